//! What does the name of a column speak of?
//!
//! Names are split into words (`patientID`, `patient_id` and `Patient ID` have the same two), in small letters and without accents, and looked
//! up in lists for English, German, French, Spanish, Italian, Portuguese and Dutch. A list has words in the singular. Words that mean one thing in one
//! language and another in the next stand under what is safer.

/// What a word in a column's name speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// What names people.
    Identifier,
    /// Ages of people, which are divided alike everywhere.
    Age,
    /// Codes of places, whose first characters are a region.
    Place,
    /// Anything else that outsiders know.
    Known,
    /// What nobody should learn.
    Sensitive,
}

/// Words of columns' names. The first row that has one of a name's words decides.
const HINTS: &[(Hint, &str)] = &[
    (
        Hint::Identifier,
        "email mail phone telephone mobile cellphone fax ssn passport iban address street url ip login username nickname \
         signature photo fingerprint surname firstname lastname fullname forename initials license licence vin plate website mac \
         vorname nachname familienname zuname geburtsname strasse anschrift adresse telefon telefonnummer handy handynummer \
         mobilnummer mobiltelefon ausweis personalausweis reisepass sozialversicherungsnummer steuernummer kennzeichen \
         hausnummer kontonummer unterschrift \
         prenom nomfamille rue portable courriel nir passeport immatriculation signature \
         apellido direccion calle telefono movil correo dni nif nie pasaporte matricula curp rfc firma \
         cognome indirizzo cellulare codicefiscale passaporto targa \
         sobrenome apelido endereco morada rua telefone telemovel celular cpf placa assinatura \
         voornaam achternaam adres straat telefoon telefoonnummer mobiel bsn paspoort kenteken burgerservicenummer huisnummer \
         handtekening",
    ),
    (Hint::Age, "age alter edad eta idade leeftijd lebensalter"),
    (
        Hint::Place,
        "zip zipcode postcode postal postalcode plz postleitzahl codepostal codigopostal codicepostale cep cap zip3 zip5",
    ),
    (
        Hint::Known,
        "birth birthday birthdate birthyear birthplace dob yob born year sex gender race ethnicity ethnic \
         nationality citizenship citizen country nation native city town village municipality county state \
         province region district location place residence neighborhood neighbourhood latitude longitude lat lon \
         lng education degree school university occupation profession job employer employment work workclass \
         industry marital married family household child children relationship language height weight hair eye \
         veteran military admission admitted discharge visit death died vehicle car nuts isco nace naics housing \
         geburt geburtsdatum geburtstag geburtsjahr geburtsort geboren geschlecht nationalitat staatsangehorigkeit land ort \
         stadt wohnort gemeinde landkreis kreis bundesland provinz beruf tatigkeit branche wirtschaftszweig ausbildung bildung \
         schule abschluss familienstand haushalt haushaltsgrosse kinder kinderzahl sprache grosse gewicht fahrzeug wohnung \
         aufnahmedatum entlassungsdatum todesdatum \
         naissance datenaissance anneenaissance sexe nationalite pays ville commune departement region metier emploi secteur \
         etude diplome matrimonial matrimoniale etatcivil situationfamiliale menage enfant langue taille poids vehicule \
         logement embauche accident \
         nacimiento fechanacimiento sexo genero nacionalidad pais ciudad municipio provincia profesion ocupacion empleo \
         educacion estudio estadocivil hogar hijo idioma altura peso vehiculo vivienda ingresohospital \
         nascita datanascita sesso genere nazionalita cittadinanza paese citta comune provincia regione professione \
         occupazione lavoro istruzione titolostudio statocivile famiglia figli lingua altezza veicolo \
         nascimento datanascimento nacionalidade cidade estado profissao ocupacao emprego educacao escolaridade familia filho \
         veiculo freguesia \
         geboorte geboortedatum geboortejaar geslacht nationaliteit stad woonplaats beroep opleiding werk burgerlijkestaat \
         huishouden kind kinderen taal lengte gewicht voertuig",
    ),
    (
        Hint::Sensitive,
        "diagnosis diagnoses disease illness condition disorder symptom icd icd10 procedure treatment therapy drug \
         medication medicine prescription allergy hiv test result lab blood bmi smoker smoking alcohol disability \
         pregnant pregnancy abortion income salary wage earning pay payment wealth debt credit loan balance cost \
         charge religion religious faith belief party political politics vote union sexual orientation crime \
         offence offense conviction arrest criminal grade score rating abuse complaint claim injury lesion default \
         diagnose krankheit behandlung medikament befund einkommen gehalt lohn vermogen schulden kredit konfession \
         partei schaden schadenhohe betrag kosten laborwert verletzung \
         diagnostic maladie traitement medicament revenu salaire dette pret montant cout handicap blessure gravite \
         siegelesion naturelesion \
         diagnostico enfermedad tratamiento medicamento ingreso sueldo deuda prestamo importe coste siniestro lesion \
         diagnosi malattia terapia farmaco reddito stipendio debito prestito importo costo religione sinistro \
         doenca tratamento medicamento renda salario rendimento divida emprestimo custo religiao sinistro \
         ziekte behandeling medicijn inkomen salaris loon schuld lening bedrag geloof schade",
    ),
];

/// Words for a name; it is a person's if there is nothing else beside but [`PERSONS`].
const NAME: &str = "name nom nombre nome naam";

/// Whom a number may be about. Alone such a word is a number, too, where values repeat like one.
const PERSONS: &str = "first last full given family middle maiden user patient person customer client employee member student \
    mother father parent contact doctor physician teacher subject participant respondent policy policyholder insured household hh \
    case account beneficiary claimant borrower victim worker driver visitor owner tenant resident citizen visit episode record medical mrn \
    versicherter versicherte versicherungsnehmer versicherung police vertrag kunde mandant haushalt proband personal mitarbeiter \
    assure menage contrat salarie matricule abonne dossier victime \
    cliente paciente poliza hogar persona empleado asegurado expediente \
    paziente polizza famiglia assistito utente dipendente \
    apolice agregado segurado utente pessoa \
    klant patient polis huishouden deelnemer verzekerde persoon medewerker";

/// Words that alone say whom or what a row is about. A subset of [`PERSONS`] that columns are really called.
const ALONE: &str = "patient person customer client employee member student subject participant respondent policy policyholder insured \
    household hh beneficiary claimant borrower victim worker user mrn case account \
    versicherter versicherte versicherungsnehmer kunde mandant haushalt proband mitarbeiter police vertrag \
    assure menage contrat salarie matricule abonne dossier cliente paciente poliza hogar persona empleado asegurado expediente \
    paziente polizza famiglia assistito utente dipendente apolice agregado segurado pessoa \
    klant polis huishouden deelnemer verzekerde persoon medewerker";

/// How the name of a column of numbers ends.
const NUMBERS: &str = "id ids uuid guid key number no nr num mrn nummer numero kennung schlussel identifiant identificador identificatore \
    pid uid ref reference";

/// What is of a certain age beside people.
const THINGS: &str = "vehicle car auto fahrzeug kfz pkw vehicule voiture vehiculo coche veicolo carro veiculo voertuig building house \
    policy contract tenure account machine equipment company firm firma gebaude haus vertrag device bateau boat property bonus";

/// Words that columns are called and that stand in no cell, alone or with [`PERSONS`], [`NUMBERS`] and [`BESIDE`].
const CALLED: &str = "id name surname firstname lastname fullname forename age zip zipcode postcode postalcode plz birth birthday birthdate \
    birthyear birthplace dob yob sex gender ethnicity nationality citizenship country city town municipality occupation profession \
    diagnosis disease illness symptom salary income ssn iban date year";

/// Words that stand beside such words.
const BESIDE: &str = "of at the in code type status group class level";

/// Is a column called so, and nobody? All words must be of a name, and one a name by itself.
pub(crate) fn is_called_so(name: &str) -> bool {
    let words = words(name);
    let is_beside = |word: &String| {
        is_one_of(PERSONS, word)
            || is_one_of(NUMBERS, word)
            || is_one_of(BESIDE, word)
            || is_one_of(CALLED, word)
    };
    words.iter().all(is_beside) && words.iter().any(|word| is_one_of(CALLED, word))
}

/// A letter without its accent; `ß` and ligatures become two.
fn plain(character: char, to: &mut String) {
    let folded = match character {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => "a",
        'ç' => "c",
        'è' | 'é' | 'ê' | 'ë' => "e",
        'ì' | 'í' | 'î' | 'ï' => "i",
        'ñ' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => "o",
        'ù' | 'ú' | 'û' | 'ü' => "u",
        'ß' => "ss",
        'œ' => "oe",
        'æ' => "ae",
        other => return to.push(other),
    };
    to.push_str(folded);
}

/// The words of a column's name, in lower case and without accents: `patientID`, `patient_id` and `Patient ID` have the same.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for character in name.chars() {
        let is_new = !before.is_alphanumeric()
            || (before.is_lowercase() && character.is_uppercase())
            || before.is_numeric() != character.is_numeric();
        if character.is_alphanumeric() {
            if is_new {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                character.to_lowercase().for_each(|character| plain(character, word));
            }
        }
        before = character;
    }
    words
}

pub(super) fn is_one_of(known: &str, word: &str) -> bool {
    known.split_whitespace().any(|known| known == word)
}

fn is_digits(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Umlauts that a name writes as two letters.
fn without_umlauts(word: &str) -> String {
    word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
}

/// What a name speaks of, and by which word.
pub(super) fn hint(name: &str) -> Option<(Hint, &'static str)> {
    let words = words(name);
    let names = words.iter().filter(|word| is_one_of(NAME, word)).count();
    // A `nombre` beside other words is a number of something in French.
    if names > 0
        && words.iter().all(|word| is_one_of(NAME, word) || is_one_of(PERSONS, word) || is_digits(word))
        && (words.len() == names || !words.iter().any(|word| word == "nombre") || words[0] == "nombre")
    {
        return Some((Hint::Identifier, "name"));
    }
    // Little words between others are left out: `date_de_naissance`.
    let joined: String =
        words.iter().filter(|word| !is_one_of("de del do da di du of der la le", word)).cloned().collect();
    let other = without_umlauts(&joined);
    let speaks = |known: &&str| {
        joined == *known
            || other == *known
            || words.iter().any(|word| {
                word == known
                    || word.strip_suffix('s').is_some_and(|one| one == *known)
                    || (word.len() > 5 && without_umlauts(word) == *known)
            })
    };
    let found =
        HINTS.iter().find_map(|(hint, known)| Some((*hint, known.split_whitespace().find(speaks)?)))?;
    // The age of a car is no age of a person.
    if found.0 == Hint::Age && words.iter().any(|word| is_one_of(THINGS, word)) {
        return Some((Hint::Known, found.1));
    }
    // An address of the web or of a street, not its type.
    Some(found)
}

/// Does a name end like that of a number of something?
pub(super) fn is_number_of_something(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.iter().rev().find(|word| !is_digits(word)) else {
        return false;
    };
    // `num_children` counts, `id_patient` and `numero_paciente` number.
    let starts = words.len() > 1
        && is_one_of("id numero nr identifiant identificador", &words[0])
        && words.iter().skip(1).any(|word| is_one_of(PERSONS, word));
    starts
        || is_one_of(NUMBERS, last)
        || last.strip_suffix("nummer").is_some_and(|of| of.len() > 2)
        || last.strip_suffix("nr").is_some_and(|of| of.len() > 3)
        || PERSONS
            .split_whitespace()
            .any(|person| last.strip_prefix(person).is_some_and(|rest| rest == "id" || rest == "no"))
}

/// Whom or what rows may be about, by a name that says so: how near that is to a person, 0 nearest.
pub(crate) fn person_rank(name: &str) -> Option<u8> {
    let words = words(name);
    let has = |known: &str| {
        let known: Vec<&str> = known.split_whitespace().collect();
        let is_it = |word: &String| {
            known.contains(&word.as_str())
                || known.iter().any(|known| {
                    // Compounds: patientid, patientennummer, kundennr.
                    known.len() > 3
                        && word.strip_prefix(known).is_some_and(|rest| {
                            rest == "id" || rest == "no" || rest.ends_with("nummer") || rest.ends_with("nr")
                        })
                })
        };
        words.iter().any(is_it)
    };
    if has(HOUSEHOLDS) {
        Some(2)
    } else if has(CONTRACTS) {
        Some(1)
    } else if has(PERSONS) {
        Some(0)
    } else {
        None
    }
}

const HOUSEHOLDS: &str = "household hh haushalt menage hogar famiglia agregado huishouden";
const CONTRACTS: &str =
    "policy police contract contrat vertrag poliza polizza apolice polis account versicherung";

/// Is a column called like a person alone: `patient`, `client`, `matricule`?
pub(super) fn is_person_alone(name: &str) -> bool {
    let words = words(name);
    matches!(words.as_slice(), [word] if is_one_of(ALONE, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_into_words_in_any_spelling() {
        for name in ["patient_id", "PatientId", "patientID", "Patient ID", "patient-id"] {
            assert_eq!(words(name), ["patient", "id"], "{name}");
        }
        assert_eq!(words("zip5"), ["zip", "5"]);
        assert!(words("").is_empty() && words("--").is_empty());
        assert_eq!(hint("ZIPCode"), Some((Hint::Place, "zipcode")));
        assert_eq!(hint("first_name").map(|(hint, _)| hint), Some(Hint::Identifier));
        assert_eq!(hint("country_name").map(|(hint, _)| hint), Some(Hint::Known));
        assert_eq!(hint("Symptoms").map(|(hint, _)| hint), Some(Hint::Sensitive));
        assert_eq!(hint("storage"), None, "age is no word of it");
        assert!(is_number_of_something("customerId") && is_number_of_something("patientid"));
        assert!(!is_number_of_something("covid") && !is_number_of_something("paid"));
    }

    #[test]
    fn seven_languages_are_understood() {
        let check = |names: &[&str], expected: Hint| {
            for name in names {
                assert_eq!(hint(name).map(|(hint, _)| hint), Some(expected), "{name}");
            }
        };
        check(
            &["last_name", "Nachname", "prénom", "nom", "Apellidos", "cognome", "sobrenome", "Achternaam"],
            Hint::Identifier,
        );
        check(&["Straße", "rue", "dirección", "indirizzo", "endereço", "adres"], Hint::Identifier);
        check(&["age", "Alter", "edad", "età", "idade", "leeftijd"], Hint::Age);
        check(
            &["zip", "Postleitzahl", "code postal", "código_postal", "codice_postale", "postcode"],
            Hint::Place,
        );
        check(
            &[
                "birth_date",
                "Geburtsdatum",
                "date_de_naissance",
                "fecha_nacimiento",
                "data_nascita",
                "data_de_nascimento",
                "geboortedatum",
            ],
            Hint::Known,
        );
        check(&["sex", "Geschlecht", "sexe", "sexo", "sesso", "geslacht"], Hint::Known);
        check(
            &["income", "Einkommen", "revenu", "ingresos", "reddito", "rendimento", "inkomen"],
            Hint::Sensitive,
        );
        check(&["Größe", "groesse", "height"], Hint::Known);
        for name in [
            "patient_id",
            "Patientennummer",
            "Kundennr",
            "numero_paciente",
            "id_assure",
            "Versicherungsnummer",
        ] {
            assert!(is_number_of_something(name), "{name}");
        }
        assert_eq!(hint("nombre_enfants").map(|(hint, _)| hint), Some(Hint::Known));
        assert_eq!(hint("vehicle_age").map(|(hint, _)| hint), Some(Hint::Known));
    }

    #[test]
    fn a_person_is_nearer_than_a_contract_and_a_household() {
        assert_eq!(person_rank("patient_id"), Some(0));
        assert_eq!(person_rank("policy_number"), Some(1));
        assert_eq!(person_rank("household"), Some(2));
        assert_eq!(person_rank("colour"), None);
        assert!(is_person_alone("client") && !is_person_alone("client_type"));
    }
}
