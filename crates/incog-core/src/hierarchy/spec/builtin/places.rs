//! Countries, states, ZIP codes and the regions of NUTS.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The codes of ISO 3166-1 by region and subregion of UN M49: two letters and three.
const COUNTRIES: &[(&str, &str, &str)] = &[
    ("Africa", "Northern Africa", "DZ DZA EG EGY LY LBY MA MAR SD SDN TN TUN EH ESH"),
    (
        "Africa",
        "Eastern Africa",
        "IO IOT BI BDI KM COM DJ DJI ER ERI ET ETH TF ATF KE KEN MG MDG MW MWI MU MUS YT MYT MZ MOZ RE REU RW RWA SC SYC SO SOM SS SSD \
         UG UGA TZ TZA ZM ZMB ZW ZWE",
    ),
    ("Africa", "Middle Africa", "AO AGO CM CMR CF CAF TD TCD CG COG CD COD GQ GNQ GA GAB ST STP"),
    ("Africa", "Southern Africa", "BW BWA SZ SWZ LS LSO NA NAM ZA ZAF"),
    (
        "Africa",
        "Western Africa",
        "BJ BEN BF BFA CV CPV CI CIV GM GMB GH GHA GN GIN GW GNB LR LBR ML MLI MR MRT NE NER NG NGA SH SHN SN SEN SL SLE TG TGO",
    ),
    (
        "Americas",
        "Caribbean",
        "AI AIA AG ATG AW ABW BS BHS BB BRB BQ BES VG VGB KY CYM CU CUB CW CUW DM DMA DO DOM GD GRD GP GLP HT HTI JM JAM MQ MTQ MS MSR \
         PR PRI BL BLM KN KNA LC LCA MF MAF VC VCT SX SXM TT TTO TC TCA VI VIR",
    ),
    ("Americas", "Central America", "BZ BLZ CR CRI SV SLV GT GTM HN HND MX MEX NI NIC PA PAN"),
    (
        "Americas",
        "South America",
        "AR ARG BO BOL BV BVT BR BRA CL CHL CO COL EC ECU FK FLK GF GUF GY GUY PY PRY PE PER GS SGS SR SUR UY URY VE VEN",
    ),
    ("Americas", "Northern America", "BM BMU CA CAN GL GRL PM SPM US USA"),
    ("Antarctica", "Antarctica", "AQ ATA"),
    ("Asia", "Central Asia", "KZ KAZ KG KGZ TJ TJK TM TKM UZ UZB"),
    ("Asia", "Eastern Asia", "CN CHN HK HKG MO MAC KP PRK JP JPN MN MNG KR KOR TW TWN"),
    (
        "Asia",
        "South-eastern Asia",
        "BN BRN KH KHM ID IDN LA LAO MY MYS MM MMR PH PHL SG SGP TH THA TL TLS VN VNM",
    ),
    ("Asia", "Southern Asia", "AF AFG BD BGD BT BTN IN IND IR IRN MV MDV NP NPL PK PAK LK LKA"),
    (
        "Asia",
        "Western Asia",
        "AM ARM AZ AZE BH BHR CY CYP GE GEO IQ IRQ IL ISR JO JOR KW KWT LB LBN OM OMN QA QAT SA SAU PS PSE SY SYR TR TUR AE ARE YE YEM",
    ),
    ("Europe", "Eastern Europe", "BY BLR BG BGR CZ CZE HU HUN PL POL MD MDA RO ROU RU RUS SK SVK UA UKR"),
    (
        "Europe",
        "Northern Europe",
        "AX ALA DK DNK EE EST FO FRO FI FIN GG GGY IS ISL IE IRL IM IMN JE JEY LV LVA LT LTU NO NOR SJ SJM SE SWE GB GBR",
    ),
    (
        "Europe",
        "Southern Europe",
        "AL ALB AD AND BA BIH HR HRV GI GIB GR GRC VA VAT IT ITA MT MLT ME MNE MK MKD PT PRT SM SMR RS SRB SI SVN ES ESP",
    ),
    ("Europe", "Western Europe", "AT AUT BE BEL FR FRA DE DEU LI LIE LU LUX MC MCO NL NLD CH CHE"),
    ("Oceania", "Australia and New Zealand", "AU AUS CX CXR CC CCK HM HMD NZ NZL NF NFK"),
    ("Oceania", "Melanesia", "FJ FJI NC NCL PG PNG SB SLB VU VUT"),
    ("Oceania", "Micronesia", "GU GUM KI KIR MH MHL FM FSM NR NRU MP MNP PW PLW UM UMI"),
    ("Oceania", "Polynesia", "AS ASM CK COK NU NIU PN PCN WS WSM TK TKL TO TON TV TUV WF WLF PF PYF"),
];

/// The states of the USA by region and division of the Census Bureau: code and name.
const STATES: &[(&str, &str, &str)] = &[
    (
        "Northeast",
        "New England",
        "CT Connecticut,ME Maine,MA Massachusetts,NH New Hampshire,RI Rhode Island,VT Vermont",
    ),
    ("Northeast", "Middle Atlantic", "NJ New Jersey,NY New York,PA Pennsylvania"),
    ("Midwest", "East North Central", "IL Illinois,IN Indiana,MI Michigan,OH Ohio,WI Wisconsin"),
    (
        "Midwest",
        "West North Central",
        "IA Iowa,KS Kansas,MN Minnesota,MO Missouri,NE Nebraska,ND North Dakota,SD South Dakota",
    ),
    (
        "South",
        "South Atlantic",
        "DE Delaware,DC District of Columbia,FL Florida,GA Georgia,MD Maryland,NC North Carolina,SC South Carolina,VA Virginia,WV West \
         Virginia",
    ),
    ("South", "East South Central", "AL Alabama,KY Kentucky,MS Mississippi,TN Tennessee"),
    ("South", "West South Central", "AR Arkansas,LA Louisiana,OK Oklahoma,TX Texas"),
    (
        "West",
        "Mountain",
        "AZ Arizona,CO Colorado,ID Idaho,MT Montana,NV Nevada,NM New Mexico,UT Utah,WY Wyoming",
    ),
    ("West", "Pacific", "AK Alaska,CA California,HI Hawaii,OR Oregon,WA Washington"),
    (
        "Island areas",
        "Island areas",
        "AS American Samoa,GU Guam,MP Northern Mariana Islands,PR Puerto Rico,VI Virgin Islands",
    ),
    (
        "Armed forces",
        "Armed forces",
        "AA Armed Forces Americas,AE Armed Forces Europe,AP Armed Forces Pacific",
    ),
];

/// Three digits of ZIP codes whose areas have at most 20,000 people, by the 2000 census: 45 CFR 164.514(b)(2)(i)(B) and the guidance on it.
const SPARSE: [&str; 17] = [
    "036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878", "879", "884",
    "890", "893",
];

/// Countries with codes in NUTS 2021 or the statistical regions beside it.
const NUTS: &str = "AL AT BE BG CH CY CZ DE DK EE EL ES FI FR HR HU IE IS IT LI LT LU LV ME MK MT NL NO PL PT RO RS SE SI SK TR UK";

/// What lies above a code: subregion and region.
type Above = HashMap<String, (&'static str, &'static str)>;

static BY_COUNTRY: LazyLock<Above> = LazyLock::new(|| {
    let codes = |&(region, subregion, codes): &(&'static str, &'static str, &'static str)| {
        codes.split_whitespace().map(move |code| (code.to_owned(), (subregion, region))).collect::<Vec<_>>()
    };
    COUNTRIES.iter().flat_map(codes).collect()
});

static BY_STATE: LazyLock<Above> = LazyLock::new(|| {
    let mut above = Above::new();
    for &(region, division, states) in STATES {
        for state in states.split(',') {
            if let Some((code, name)) = state.split_once(' ') {
                above.insert(code.to_owned(), (division, region));
                above.insert(name.to_uppercase(), (division, region));
            }
        }
    }
    above
});

fn found(above: &Above, code: &str) -> Option<Vec<String>> {
    // The longest name has 22 letters; whatever is longer is none and need not be copied.
    if code.len() > 24 {
        return None;
    }
    let (near, far) = above.get(&code.to_uppercase())?;
    Some(vec![(*near).to_owned(), (*far).to_owned()])
}

/// Subregion and region of a country.
pub(super) fn country(code: &str) -> Option<Vec<String>> {
    if code.len() > 3 { None } else { found(&BY_COUNTRY, code) }
}

/// Division and region of a state.
pub(super) fn state(code: &str) -> Option<Vec<String>> {
    found(&BY_STATE, code)
}

/// The first three digits and the first; what is sparse stays together.
pub(super) fn zip3(code: &str) -> Option<Vec<String>> {
    let (zip, extension) = code.split_once('-').unwrap_or((code, "0000"));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_zip = matches!(zip.len(), 3 | 5 | 9) && is_digits(zip);
    if !is_zip || extension.len() != 4 || !is_digits(extension) || (code.contains('-') && zip.len() != 5) {
        return None;
    }
    let area = &zip[..3];
    if area == "000" || SPARSE.contains(&area) {
        return Some(vec!["000".to_owned(); 2]);
    }
    Some(vec![area.to_owned(), area[..1].to_owned()])
}

/// Level 2, level 1 and the country.
pub(super) fn nuts(code: &str) -> Option<Vec<String>> {
    if !(2..=5).contains(&code.len()) || !code.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let code = code.to_ascii_uppercase();
    NUTS.split_whitespace().find(|country| code.starts_with(country))?;
    Some([4, 3, 2].map(|length: usize| code[..length.min(code.len())].to_owned()).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_249_countries_with_two_codes_each_and_56_states_with_armed_forces() {
        assert_eq!(BY_COUNTRY.len(), 2 * 249);
        for length in [2, 3] {
            assert_eq!(BY_COUNTRY.keys().filter(|code| code.len() == length).count(), 249);
        }
        assert_eq!(BY_STATE.len(), 2 * (50 + 1 + 5 + 3));
    }

    #[test]
    fn both_codes_of_a_country_stand_side_by_side() {
        for (_, subregion, codes) in COUNTRIES {
            let codes: Vec<&str> = codes.split_whitespace().collect();
            for pair in codes.chunks(2) {
                assert_eq!((pair[0].len(), pair[1].len()), (2, 3), "{subregion}: {pair:?}");
            }
        }
    }
}
