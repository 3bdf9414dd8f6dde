//! How does one log in?
//!
//! **Promise.** The URL may leave out whatever the usual places say, in the order of libpq: the URL, a service file, variables
//! (`PGHOST`, `PGPORT`, `PGUSER`, `PGDATABASE`, `PGPASSWORD`, `PGSSLMODE`, `PGSSLROOTCERT`, `PGSERVICE`), and for the password at last
//! `~/.pgpass` (`PGPASSFILE`). No password is in anything that is ever printed: [`Login`] shows where, not how.

use std::collections::BTreeMap;
use std::path::PathBuf;

use incog_core::{Error, ErrorKind, Result};
use postgres::Config;
use postgres::config::{Host, SslMode};

use crate::postgres::tls::Trusted;

/// Variables and the settings that they stand for.
const VARIABLES: [(&str, &str); 6] = [
    ("PGHOST", "host"),
    ("PGPORT", "port"),
    ("PGUSER", "user"),
    ("PGDATABASE", "dbname"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
];

/// Settings of URLs and service files that are handed on.
const KNOWN: [&str; 9] = [
    "host",
    "port",
    "user",
    "dbname",
    "password",
    "connect_timeout",
    "options",
    "keepalives",
    "target_session_attrs",
];

/// Where to connect, and how.
pub(super) struct Login {
    pub(super) config: Config,
    pub(super) trusted: Trusted,
    /// `postgresql://host:port/database`, without whoever logs in.
    pub(super) shown: String,
}

/// Without the password.
impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("shown", &self.shown).finish_non_exhaustive()
    }
}

impl Login {
    /// What a URL says, completed from the usual places; `variable` reads the environment.
    pub(super) fn of(url: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let mut settings = of_url(url)?;
        if let Some(service) = settings.remove("service").or_else(|| variable("PGSERVICE")) {
            for (key, value) in service_settings(&service, variable)? {
                settings.entry(key).or_insert(value);
            }
        }
        for (name, key) in VARIABLES {
            if let Some(value) = variable(name).filter(|value| !value.is_empty()) {
                settings.entry(key.to_owned()).or_insert(value);
            }
        }
        if let Some(password) = variable("PGPASSWORD") {
            settings.entry("password".to_owned()).or_insert(password);
        }
        let mode = settings.remove("sslmode").unwrap_or_else(|| "prefer".to_owned());
        let root = settings.remove("sslrootcert").filter(|root| root != "system").map(PathBuf::from);
        let (mode, trusted) = match (mode.as_str(), root) {
            ("disable", _) => (SslMode::Disable, Trusted::Anybody),
            ("allow" | "prefer", _) => (SslMode::Prefer, Trusted::Anybody),
            ("require", None) => (SslMode::Require, Trusted::Anybody),
            ("require" | "verify-ca" | "verify-full", Some(root)) => (SslMode::Require, Trusted::File(root)),
            ("verify-ca" | "verify-full", None) => (SslMode::Require, Trusted::System),
            _ => {
                return Err(Error::input(
                    "`sslmode` is none of disable, prefer, require, verify-ca and verify-full",
                ));
            }
        };
        let config = config(&mut settings, mode)?;
        let mut login = Login { shown: shown(&config), config, trusted };
        if login.config.get_password().is_none()
            && let Some(password) = passfile_password(&login.config, variable)
        {
            login.config.password(password);
        }
        Ok(login)
    }
}

fn config(settings: &mut BTreeMap<String, String>, mode: SslMode) -> Result<Config> {
    let mut config = Config::new();
    let user = settings
        .remove("user")
        .or_else(|| std::env::var("USER").ok())
        .unwrap_or_else(|| "postgres".to_owned());
    let database = settings.remove("dbname").unwrap_or_else(|| user.clone());
    let number = |key: &str, value: &str| -> Result<u64> {
        value.parse().map_err(|_| Error::input(format!("`{key}` of the database is no number")))
    };
    config.user(&user).dbname(&database).ssl_mode(mode).application_name("incog");
    config.host(&settings.remove("host").unwrap_or_else(|| "localhost".to_owned()));
    let port = number("port", settings.remove("port").as_deref().unwrap_or("5432"))?;
    config.port(u16::try_from(port).map_err(|_| Error::input("`port` of the database is no port"))?);
    if let Some(password) = settings.remove("password") {
        config.password(password);
    }
    if let Some(seconds) = settings.remove("connect_timeout") {
        config.connect_timeout(std::time::Duration::from_secs(number("connect_timeout", &seconds)?));
    }
    if let Some(options) = settings.remove("options") {
        config.options(&options);
    }
    Ok(config)
}

/// Where it leads, for people and records.
fn shown(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(folder)) => folder.display().to_string().replace('/', "%2F"),
        _ => String::new(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!("postgresql://{host}:{port}/{}", config.get_dbname().unwrap_or_default())
}

/// The settings of a URL. Its text is never repeated: it may have a password.
fn of_url(url: &str) -> Result<BTreeMap<String, String>> {
    let wrong = |what: &str| {
        Error::input(format!("the database's URL {what}"))
            .with_hint("write it as postgresql://user@host:port/database")
    };
    let rest = url.strip_prefix("postgresql://").or_else(|| url.strip_prefix("postgres://"));
    let rest = rest.ok_or_else(|| wrong("does not begin with postgresql://"))?;
    let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (login, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) =
        login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
    let (host, port) = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => place.rsplit_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    if place.contains(',') {
        return Err(wrong("names several hosts, and a snapshot is of one"));
    }
    let mut settings = BTreeMap::new();
    let parts = [
        ("user", Some(user)),
        ("password", password),
        ("host", Some(host)),
        ("port", port),
        ("dbname", Some(database)),
    ];
    for (key, value) in parts {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            settings.insert(key.to_owned(), decoded(value).ok_or_else(|| wrong("has a broken % in it"))?);
        }
    }
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        let (key, value) = parameter.split_once('=').ok_or_else(|| wrong("has a parameter without ="))?;
        if !KNOWN.contains(&key) && !["sslmode", "sslrootcert", "service"].contains(&key) {
            return Err(Error::input(format!(
                "the database's URL has the parameter `{key}`, which is not known"
            ))
            .with_hint(format!("there are: {}, sslmode, sslrootcert, service", KNOWN.join(", "))));
        }
        settings.insert(key.to_owned(), decoded(value).ok_or_else(|| wrong("has a broken % in it"))?);
    }
    Ok(settings)
}

/// A text without its percent signs.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

/// What a service file says of a service.
fn service_settings(
    service: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>> {
    let own = variable("PGSERVICEFILE").map(PathBuf::from);
    let home = variable("HOME").map(|home| PathBuf::from(home).join(".pg_service.conf"));
    let system = variable("PGSYSCONFDIR").map(|folder| PathBuf::from(folder).join("pg_service.conf"));
    for path in [own.or(home), system].into_iter().flatten() {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if let Some(settings) = section(&text, service) {
            return Ok(settings);
        }
    }
    Err(Error::new(ErrorKind::Input, format!("there is no service `{service}` in the service file"))
        .with_hint("it is ~/.pg_service.conf, or what PGSERVICEFILE names"))
}

/// The settings of a section of a service file.
fn section(text: &str, service: &str) -> Option<BTreeMap<String, String>> {
    let mut found: Option<BTreeMap<String, String>> = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            if found.is_some() {
                break;
            }
            found = (name == service).then(BTreeMap::new);
        } else if let (Some(settings), Some((key, value))) = (&mut found, line.split_once('=')) {
            settings.insert(key.trim().to_owned(), value.trim().to_owned());
        }
    }
    found
}

/// The password that the password file has for this login.
fn passfile_password(config: &Config, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let home = || variable("HOME").map(|home| PathBuf::from(home).join(".pgpass"));
    let path = variable("PGPASSFILE").map(PathBuf::from).or_else(home)?;
    if !is_private(&path) {
        return None;
    }
    let host = match config.get_hosts().first()? {
        Host::Tcp(host) => host.clone(),
        #[cfg(unix)]
        Host::Unix(_) => "localhost".to_owned(),
    };
    let port = config.get_ports().first()?.to_string();
    let wanted = [host.as_str(), &port, config.get_dbname()?, config.get_user()?];
    password_of(&std::fs::read_to_string(path).ok()?, wanted)
}

/// Like libpq, a file that others may read is not.
fn is_private(path: &std::path::Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 == 0)
    }
    #[cfg(not(unix))]
    path.exists()
}

/// The password of the first line whose host, port, database and user are these, or `*`.
fn password_of(text: &str, wanted: [&str; 4]) -> Option<String> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.find_map(|line| {
        let fields = fields(line);
        let is_it = |(field, wanted): (&String, &&str)| field == "*" || field == *wanted;
        let fits = fields.len() >= 5 && fields.iter().zip(&wanted).all(is_it);
        fits.then(|| fields[4].clone())
    })
}

/// The fields of a line, between colons that no backslash stands before.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            '\\' => letters.next(),
            ':' => {
                fields.push(String::new());
                None
            }
            letter => Some(letter),
        };
        if let (Some(letter), Some(last)) = (letter, fields.last_mut()) {
            last.push(letter);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(url: &str, variables: &[(&str, &str)]) -> Result<Login> {
        let variable = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        Login::of(url, &variable)
    }

    #[test]
    fn the_url_comes_first_and_variables_fill_in() {
        let both = login(
            "postgresql://ann:p%40ss@db.example:5433/clinic",
            &[("PGPASSWORD", "other"), ("PGPORT", "1")],
        )
        .unwrap();
        assert_eq!(both.shown, "postgresql://db.example:5433/clinic");
        assert_eq!((both.config.get_user(), both.config.get_password()), (Some("ann"), Some(&b"p@ss"[..])));
        let filled =
            [("PGHOST", "h"), ("PGPORT", "99"), ("PGUSER", "u"), ("PGDATABASE", "d"), ("PGPASSWORD", "p")];
        let filled = login("postgresql://", &filled).unwrap();
        assert_eq!(filled.shown, "postgresql://h:99/d");
        assert_eq!(filled.config.get_password(), Some(&b"p"[..]));
        let v6 = login("postgresql://u@[::1]:5/d", &[]).unwrap();
        assert_eq!(v6.shown, "postgresql://::1:5/d");
        let folder = login("postgresql://u@%2Fvar%2Frun/d", &[]).unwrap();
        assert_eq!(folder.shown, "postgresql://%2Fvar%2Frun:5432/d");
    }

    #[test]
    fn neither_errors_nor_debug_tell_a_password() {
        for url in [
            "postgresql://u:secret@h:x/d",
            "mysql://u:secret@h/d",
            "postgresql://u:secret@h/d?colour=secret",
            "postgresql://u:secret%zz@h/d",
            "postgresql://u:secret@a,b/d",
        ] {
            let error = login(url, &[]).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
        let login = login("postgresql://u:secret@h/d", &[]).unwrap();
        assert!(!format!("{login:?} {}", login.shown).contains("secret"));
    }

    #[test]
    fn services_and_password_files_are_read_as_libpq_does() {
        let folder = tempfile::tempdir().unwrap();
        let (services, passwords) = (folder.path().join("services"), folder.path().join("passwords"));
        std::fs::write(
            &services,
            "# all\n[other]\nhost=no\n[clinic]\nhost = inner\nport=7\nuser=ann\ndbname=c\n[x]\nport=8\n",
        )
        .unwrap();
        std::fs::write(&passwords, "# a:b\nelse:*:*:*:no\ninner:7:*:ann:a\\:b\\\\c\n").unwrap();
        let variables =
            [("PGSERVICEFILE", services.to_str().unwrap()), ("PGPASSFILE", passwords.to_str().unwrap())];
        let found = || login("postgresql://?service=clinic", &variables).unwrap();
        assert_eq!(found().shown, "postgresql://inner:7/c");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&passwords, std::fs::Permissions::from_mode(0o644)).unwrap();
            assert_eq!(found().config.get_password(), None, "others may read it");
            std::fs::set_permissions(&passwords, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        assert_eq!(found().config.get_password(), Some(&b"a:b\\c"[..]));
        assert!(login("postgresql://?service=none", &variables).is_err());
    }

    #[test]
    fn how_far_a_server_is_trusted_follows_libpq() {
        let trusted = |url: &str| login(url, &[]).map(|login| login.trusted);
        assert_eq!(trusted("postgresql://h/d").unwrap(), Trusted::Anybody);
        assert_eq!(trusted("postgresql://h/d?sslmode=verify-full").unwrap(), Trusted::System);
        let file = "postgresql://h/d?sslmode=require&sslrootcert=%2Fa";
        assert_eq!(trusted(file).unwrap(), Trusted::File("/a".into()));
        assert!(trusted("postgresql://h/d?sslmode=maybe").is_err());
    }
}
