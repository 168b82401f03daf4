"""Texts with things planted in them, by the generators of others: templates of presidio-evaluator, values of Faker, keys by
CredSweeper's own patterns. Reads a job as JSON, writes one text a line as [[shown, kind or null], ...]."""
import json
import random
import re
import sys
import warnings

warnings.filterwarnings("ignore")
import rstr  # noqa: E402
import rstr.xeger  # noqa: E402
from faker import Faker  # noqa: E402

# Its own limit is below the least length of some keys.
sys.modules["rstr.xeger"].STAR_PLUS_LIMIT = 400
PLACE = re.compile(r"\{\{([a-z_]+)\}\}")
GROUPED = ("", " ", "-")
# Whose numbers have the check digits that the gateway looks at; (locale, method).
NATIONAL = [
    *[("pt_BR", "cpf"), ("zh_CN", "ssn"), ("es_ES", "nif"), ("es_ES", "nie"), ("fr_FR", "ssn")],
    *[("it_IT", "ssn"), ("nl_NL", "ssn"), ("pl_PL", "pesel"), ("sv_SE", "ssn")],
]
IBANS = [
    *["en_GB", "de_DE", "de_AT", "de_CH", "fr_FR", "it_IT", "es_ES", "nl_NL", "nl_BE", "pl_PL", "pt_PT", "fi_FI"],
    *["no_NO", "ro_RO", "cs_CZ", "sk_SK", "el_GR", "hr_HR", "tr_TR", "bg_BG", "uk_UA", "ka_GE", "az_AZ", "et_EE"],
]
PEOPLE = ["en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "it_IT", "nl_NL", "pl_PL", "pt_BR", "sv_SE", "cs_CZ", "tr_TR"]


def grouped(value, by, mark):
    return value if mark == "" else mark.join(value[at : at + by] for at in range(0, len(value), by))


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.fakers = {}
        self.keys = rstr.Rstr(random.Random(seed + 1))
        Faker.seed(seed)

    def faker(self, locale):
        if locale not in self.fakers:
            self.fakers[locale] = Faker(locale)
        return self.fakers[locale]

    def pick(self, values):
        return values[self.random.randrange(len(values))]

    def value(self, name):
        people = self.faker(self.pick(PEOPLE))
        if name == "credit_card_number":
            return grouped(people.credit_card_number(), 4, self.pick(GROUPED)), "card"
        if name == "iban":
            return grouped(self.faker(self.pick(IBANS)).iban(), 4, self.pick(GROUPED[:2])), "iban"
        if name == "email":
            return self.pick([people.email, people.company_email, people.free_email, people.safe_email])(), "email"
        if name == "phone_number":
            # An extension is no part of a number; without its country nobody can say whether one is valid.
            number = people.phone_number().split("x")[0]
            return number, "phone" if number.startswith("+") else "local_phone"
        if name == "ip_address":
            return self.pick([people.ipv4, people.ipv6])(), "ip"
        if name == "national_id":
            locale, method = self.pick(NATIONAL)
            return getattr(self.faker(locale), method)(), "national_id"
        return self.other(name, people), None

    def other(self, name, people):
        made = {
            "person": people.name, "organization": people.company, "street_name": people.street_name,
            "age": lambda: str(self.random.randrange(18, 90)), "nationality": people.country, "zipcode": people.postcode,
            "date_of_birth": lambda: people.date(), "us_driver_license": lambda: people.bothify("?#######"),
            "prefix_male": people.first_name, "prefix_female": people.first_name, "prefix": people.first_name,
            "nation_woman": people.country, "nation_plural": people.country, "state_abbr": lambda: people.bothify("??").upper(),
            "secondary_address": lambda: people.bothify("Apt. ###"),
        }.get(name) or getattr(people, name)
        return str(made())

    def text(self, template):
        parts, at = [], 0
        for place in PLACE.finditer(template):
            parts.append([template[at : place.start()], None])
            parts.append(list(self.value(place.group(1))))
            at = place.end()
        return [*parts, [template[at:], None]]

    def harmless(self):
        people = self.faker(self.pick(PEOPLE))
        made = self.pick([
            people.uuid4, people.sha1, people.sha256, people.md5, people.ean13, people.isbn13, people.isbn10, people.uri,
            people.user_agent, people.iso8601, people.file_path, people.mac_address, people.image_url,
            lambda: people.numerify("##########"), lambda: people.bothify("ORD-########-????"), people.date,
            lambda: people.numerify("v#.##.#"), lambda: f"{people.latitude()}, {people.longitude()}",
            lambda: people.numerify("#,###,###.##"), people.time, lambda: people.numerify("INV-2026-######"),
            lambda: "_".join(people.words(4)), lambda: "-".join(people.words(6)), lambda: "".join(w.title() for w in people.words(5)),
            lambda: people.unix_time(), lambda: people.swift(), lambda: people.license_plate(), lambda: people.hostname(3),
        ])
        return [[f"{people.sentence()} ", None], [str(made()), None], [f" {people.sentence()}", None]]

    def key(self, name, pattern):
        people = self.faker("en_US")
        before = self.pick(["My key is ", "export API_KEY=", 'token: "', "Authorization: Bearer ", "curl -H 'x-api-key: ", "use ", ""])
        after = {'token: "': '"', "curl -H 'x-api-key: ": "'"}.get(before, self.pick([" ", ".", ", thanks", "\n", ""]))
        return [[f"{people.sentence()} {before}", None], [self.keys.xeger(pattern), f"key:{name}"], [f"{after} {people.sentence()}", None]]


def main():
    job = json.load(sys.stdin)
    writer = Writer(job["seed"])
    for template, times in job["templates"]:
        for _ in range(times):
            print(json.dumps(writer.text(template)))
    for _ in range(job["harmless"]):
        print(json.dumps(writer.harmless()))
    for name, pattern in job["keys"]:
        for _ in range(job["each"]):
            print(json.dumps(writer.key(name, pattern)))


main()
