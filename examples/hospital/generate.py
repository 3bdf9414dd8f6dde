"""Makes discharges.csv: the discharges of an invented hospital in 2023 and 2024.

    python3 generate.py > discharges.csv

Everything is made up: names are first names and surnames thrown together at random, zip codes are digits drawn at
random, and no diagnosis, stay or cost comes from data about people. What the file shares with real discharge data is
its shape:

- a person may have several stays, under one patient_id; most have one
- more old people than young ones, more women than men among the very old, mothers in obstetrics, newborns at age 0
- a few zip codes have most of the people
- the diagnosis depends on age and sex, the department and the length of stay on the diagnosis, the cost on all of
  these; length and cost have a long tail
- some cells are missing: insurance, now and then a zip code or a cost

The file is the same byte for byte with every Python from 3.8 on: only Random.random() is used, whose sequence for a
seed is promised not to change, and every choice is made here from it. Standard library only.
"""

import datetime
import math
import random
import sys

SEED = 20240611
N_PATIENTS = 3050
FIRST_DAY = datetime.date(2023, 1, 1)
N_DAYS = 731  # 2023 and 2024

FEMALE_NAMES = (
    "Ada Alma Anna Aylin Beatrice Carla Chloe Clara Diana Edith Elena Ella Emma Esther Fatima Flora Frieda Grace Hanna "
    "Helen Ida Ines Irene Iris Jana Julia Karen Lara Laura Lea Lena Lucia Maria Marta Maya Mia Nadia Nina Nora Olga "
    "Paula Rosa Ruth Sara Selma Sofia Tessa Vera Wanda Zoe"
).split()
MALE_NAMES = (
    "Aaron Adam Albert Alex Anton Arthur Ben Boris Bruno Carl Daniel David Elias Emil Eric Felix Finn Frank George Hugo "
    "Igor Ivan Jacob Jan Joel Jonas Karim Leo Luca Lukas Marco Martin Max Mehmet Milan Nico Noah Oscar Otto Paul Peter "
    "Robin Samuel Simon Theo Tim Tom Victor Walter Yusuf"
).split()
SURNAMES = (
    "Abel Adler Amato Baker Barros Bauer Becker Berg Bianchi Blum Brandt Brook Castro Cohen Costa Cruz Dahl Diaz Dvorak "
    "Eder Egger Falk Farkas Fischer Fontaine Frank Garcia Graf Gruber Haas Hansen Hart Hill Hofer Horvat Huber Ito "
    "Jansen Jensen Kaya Keller Kim Klein Koch Kovacs Kraus Kumar Lang Larsen Lee Lehmann Lopez Lorenz Maier Marino Marsh "
    "Martin Meyer Moreau Moser Nagy Neumann Novak Nowak Olsen Ortiz Park Patel Pavlov Perez Peters Petit Popov Reed "
    "Reis Ricci Richter Rossi Roth Roux Russo Sander Santos Sato Schmidt Schwarz Silva Simon Singh Stein Suarez Tanaka "
    "Thomas Toth Vega Vogel Wagner Walsh Weber Weiss Wolf Wood Yilmaz Young Ziegler"
).split()

# A region is the first three digits with its share of the people and how many codes it has. The first codes of a
# region are its towns, the later ones villages.
REGIONS = [("704", 0.62, 36), ("708", 0.38, 25)]

INSURANCES = [("statutory", 0.66), ("private", 0.17), ("company", 0.09), ("none", 0.03), ("", 0.05)]

# By chapter: diagnosis, department, sexes, ages from and to, how common, mean days of stay, cost of a day.
CHAPTERS = {
    "heart and circulation": [
        ("heart failure", "internal medicine", "fm", 55, 105, 9.0, 9.0, 610),
        ("heart attack", "cardiology", "fm", 45, 100, 5.0, 6.5, 1350),
        ("irregular heartbeat", "cardiology", "fm", 50, 100, 6.0, 3.5, 880),
        ("high blood pressure crisis", "internal medicine", "fm", 40, 100, 3.0, 3.5, 520),
        ("stroke", "neurology", "fm", 50, 105, 5.0, 10.0, 940),
    ],
    "breathing": [
        ("pneumonia", "internal medicine", "fm", 0, 105, 6.0, 7.5, 570),
        ("chronic lung disease", "internal medicine", "fm", 50, 100, 5.0, 7.0, 560),
        ("asthma attack", "pediatrics", "fm", 1, 17, 8.0, 3.0, 490),
        ("bronchitis of infants", "pediatrics", "fm", 0, 2, 60.0, 4.0, 510),
    ],
    "digestion": [
        ("appendicitis", "surgery", "fm", 4, 70, 6.0, 4.0, 980),
        ("gallstones", "surgery", "fm", 25, 90, 6.0, 4.0, 940),
        ("inguinal hernia", "surgery", "m", 20, 90, 5.0, 2.5, 900),
        ("bowel inflammation", "internal medicine", "fm", 16, 60, 3.0, 6.0, 640),
    ],
    "bones and injuries": [
        ("hip fracture", "orthopedics", "fm", 68, 105, 9.0, 12.0, 870),
        ("knee arthrosis", "orthopedics", "fm", 55, 88, 8.0, 7.0, 1150),
        ("forearm fracture", "orthopedics", "fm", 4, 90, 4.0, 2.5, 830),
        ("concussion", "surgery", "fm", 2, 100, 5.0, 1.8, 450),
    ],
    "tumours": [
        ("breast cancer", "oncology", "f", 35, 92, 7.0, 5.0, 1240),
        ("prostate cancer", "oncology", "m", 52, 92, 7.0, 5.5, 1190),
        ("bowel cancer", "oncology", "fm", 45, 95, 5.0, 10.0, 1180),
        ("lung cancer", "oncology", "fm", 48, 90, 4.0, 8.0, 1210),
    ],
    "mind": [
        ("depression", "psychiatry", "fm", 16, 85, 5.0, 21.0, 330),
        ("alcohol dependence", "psychiatry", "fm", 20, 75, 4.0, 11.0, 340),
    ],
    "birth": [
        ("childbirth", "obstetrics", "f", 18, 43, 42.0, 3.2, 760),
        ("newborn jaundice", "pediatrics", "fm", 0, 0, 90.0, 3.0, 480),
    ],
}


class Dice:
    """Choices that depend on nothing but the sequence of random()."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def below(self, n):
        return int(self.random() * n)

    def one_of(self, values):
        return values[self.below(len(values))]

    def weighted(self, values, weights):
        left = self.random() * sum(weights)
        for value, weight in zip(values, weights):
            left -= weight
            if left < 0:
                return value
        return values[-1]

    def chance(self, share):
        return self.random() < share

    def long_tailed(self, mean):
        """Log-normal, as a product of uniform numbers would be: many below the mean, a few far above."""
        bell = sum(self.random() for _ in range(12)) - 6
        sigma = 0.55
        return mean * math.exp(sigma * bell - sigma * sigma / 2)


def zip_codes(dice):
    """About sixty codes and a weight for each."""
    codes = []
    for prefix, share, n_codes in REGIONS:
        endings = []
        while len(endings) < n_codes:
            ending = dice.below(100)
            if ending not in endings:
                endings.append(ending)
        total = sum(1 / (at + 1) for at in range(n_codes))
        codes += [(f"{prefix}{ending:02}", share / (at + 1) / total) for at, ending in enumerate(endings)]
    return codes


def age_of_patient(dice):
    band = dice.weighted(
        [(0, 0), (1, 17), (18, 39), (40, 59), (60, 79), (80, 94), (95, 102)], [0.07, 0.09, 0.18, 0.20, 0.30, 0.155, 0.005]
    )
    return band[0] + dice.below(band[1] - band[0] + 1)


def diagnosis_for(dice, sex, age):
    fitting = [
        diagnosis
        for chapter in CHAPTERS.values()
        for diagnosis in chapter
        if sex in diagnosis[2] and diagnosis[3] <= age <= diagnosis[4]
    ]
    return dice.weighted(fitting, [diagnosis[5] for diagnosis in fitting])


def years_between(birth, day):
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


def stays_of_patient(dice, codes):
    """The rows of one person, without the number."""
    age = age_of_patient(dice)
    sex = "f" if dice.chance(0.62 if age >= 80 else 0.54 if 18 <= age < 40 else 0.48) else "m"
    first_name = dice.one_of(FEMALE_NAMES if sex == "f" else MALE_NAMES)
    name = f"{first_name} {dice.one_of(SURNAMES)}"
    if dice.chance(0.06):
        name += f"-{dice.one_of(SURNAMES)}"
    zip_code = dice.weighted([code for code, _ in codes], [weight for _, weight in codes])
    if dice.chance(0.006):
        zip_code = ""
    insurance = dice.weighted([name for name, _ in INSURANCES], [share for _, share in INSURANCES])
    # The first stay; a newborn's starts within days of birth.
    day = FIRST_DAY + datetime.timedelta(days=dice.below(N_DAYS))
    days_since_birthday = dice.below(12) if age == 0 and dice.chance(0.6) else dice.below(365)
    birth = day - datetime.timedelta(days=days_since_birthday)
    birth = birth.replace(year=birth.year - age, day=min(birth.day, 28) if birth.month == 2 else birth.day)

    n_stays = 1
    while n_stays < 7 and dice.chance(0.30 if age >= 60 else 0.16):
        n_stays += 1
    rows = []
    diagnosis = diagnosis_for(dice, sex, years_between(birth, day))
    for _ in range(n_stays):
        what, department, _, _, _, _, mean_days, cost_of_day = diagnosis
        days = min(120, max(1, round(dice.long_tailed(mean_days))))
        cost = "" if dice.chance(0.01) else f"{dice.long_tailed(cost_of_day) * days + 300:.2f}"
        rows.append([name, birth.isoformat(), sex, zip_code, day.isoformat(), days, department, what, insurance, cost])
        day += datetime.timedelta(days=days + 5 + round(dice.long_tailed(90)))
        if (day - FIRST_DAY).days >= N_DAYS:
            break
        # The same illness again more often than not, if it still fits the age and is none that happens once.
        fits = diagnosis[3] <= years_between(birth, day) <= diagnosis[4] and what not in ("appendicitis", "childbirth")
        if not fits or dice.chance(0.4):
            diagnosis = diagnosis_for(dice, sex, years_between(birth, day))
    return rows


def main():
    dice = Dice(SEED)
    codes = zip_codes(dice)
    rows = []
    for number in range(N_PATIENTS):
        rows += [[f"P{100000 + number * 7}", *row] for row in stays_of_patient(dice, codes)]
    # By the day of admission, as a hospital would write them down.
    rows.sort(key=lambda row: (row[5], row[0]))
    header = "patient_id,name,birth_date,sex,zip_code,admission_date,length_of_stay,department,diagnosis,insurance,cost"
    # No cell contains a comma or a quote, so joining is enough.
    text = "".join(",".join(map(str, row)) + "\n" for row in rows)
    sys.stdout.buffer.write((header + "\n" + text).encode("ascii"))


if __name__ == "__main__":
    main()
