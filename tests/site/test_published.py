"""What the site publishes of claims for programs, READMEs and papers: JSON and its schema, CSV, badges, citations."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from statistics import median
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import yaml

from headroom.io import commit_date
from headroom.records.schemas import schemas
from headroom.site import exports
from headroom.site.claims import citation, claim_page, readme_badge
from headroom.site.exports import samples_csv
from headroom.site.site_data import SiteData

ROOT = Path(__file__).parents[2]
ADDRESS = "https://a.example/b/"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</title><script>alert(1)</script>" onload="x" & {brace} \\ $1 `tick`\n=cmd()'


@pytest.fixture(scope="module")
def published(site: SiteData) -> SiteData:
    """The small tree, published somewhere."""
    return replace(site, address=ADDRESS)


def hostile(site: SiteData) -> SiteData:
    """The same where a claim's texts are a stranger's."""
    claim = site.tree.claims["training.time"]
    changed = claim.model_copy(update={"statement": HOSTILE, "subject": f"={HOSTILE}", "baseline": f"@{HOSTILE}"})
    return replace(site, tree=replace(site.tree, claims={**site.tree.claims, claim.id: changed}))


class TestJson:
    """claims.json, and the file of each claim."""

    def test_is_what_its_schema_says(self, published: SiteData) -> None:
        """Each file by the schema that it names, which is published beside it."""
        found = exports.json_files(published)
        files = {path: text for path, text in found.items() if path.startswith("claims")}
        assert len(files) == 1 + len(published.tree.claims)
        for text in files.values():
            data = json.loads(text)
            schema = json.loads(found[data["$schema"]])
            jsonschema.Draft202012Validator.check_schema(schema)
            jsonschema.validate(data, schema, cls=jsonschema.Draft202012Validator)

    def test_another_field_breaks_the_schema(self, published: SiteData) -> None:
        """And a missing one: the schema holds something."""
        data = json.loads(exports.json_files(published)["claims.json"])
        schema = schemas()["claims-file"]
        for break_ in (lambda claim: claim.update(odd=1), lambda claim: claim.pop("standings")):
            broken = json.loads(json.dumps(data))
            break_(broken["claims"][0])
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(broken, schema)

    def test_every_field_of_the_schema_says_what_it_means_or_is_plain(self) -> None:
        """What a program reads off it stands in the schema and nowhere else."""
        fields = schemas()["claims-file"]["$defs"]["PublishedPoint"]["properties"]
        assert "above 1 where the subject is better" in fields["ratio"]["description"]

    def test_every_path_is_that_of_a_file(self, published: SiteData) -> None:
        """Relative to the top of the site, which is named."""
        made = {**exports.pages(published), **exports.json_files(published), **exports.text_files(published, "x")}
        known = {path.replace(".md", ".html") for path in made} | set(exports.data_files(published))
        data = json.loads(made["claims.json"])
        assert data["site"] == ADDRESS
        for claim in data["claims"]:
            paths = [claim["page"], claim["samples"], *claim["badges"].values()]
            paths += [each["evidence"] for each in (*claim["standings"].values(), *claim["history"])]
            assert {path for path in paths if path} <= known

    def test_a_sweep_has_its_crossover_and_a_session_its_versions(self, published: SiteData) -> None:
        """What a program needs to say where a claim stops being true, and with what it was measured."""
        claims = {each["id"]: each for each in json.loads(exports.claims_json(published))["claims"]}
        standing = claims["training.sweep"]["standings"]["cpu"]
        assert standing["crossover"] == {"kind": "from", "edge": 8, "between": [1, 8]}
        assert standing["versions"] == {"python": "3.11.7", "torch": "2.13.0"}
        assert standing["product"] == "Made-up Xeon"
        assert claims["training.time"]["standings"]["cpu"]["crossover"] is None
        assert claims["training.unmeasured"]["samples"] is None

    def test_a_cited_claim_carries_its_source_and_says_who_reports_it(self, published: SiteData) -> None:
        """So that a program never takes the statement for a result of this project."""
        found = json.loads(exports.json_files(published)["claims/training/cited.json"])["claim"]
        claim = published.tree.claims["training.cited"]
        assert (found["kind"], found["verdict"], found["conditions"]) == ("cited", "cited", None)
        assert found["statement"] == f"Reported by A. Author (2024), not measured here: {claim.statement}"
        citation = found["citation"]
        assert {"url", "locator", "title", "authors", "year"} <= citation["source"].keys()
        assert citation["source"]["url"] == "https://example.org/clever"
        assert citation["quote"]
        assert citation["figures"][0]["as_printed"] in citation["quote"]

    def test_a_measured_claim_carries_its_verdict_and_conditions(self, published: SiteData) -> None:
        """What a program needs to know what the statement means, and what it does not."""
        claims = {each["id"]: each for each in json.loads(exports.claims_json(published))["claims"]}
        verdicts = {name: claims[f"training.{name}"]["verdict"] for name in ("time", "slower", "sweep", "unmeasured")}
        assert verdicts == {
            "time": "supported",
            "slower": "contradicted",
            "sweep": "flips",
            "unmeasured": "unmeasured",
        }
        found = claims["training.sweep"]
        assert found["conditions"]["baseline"] == "plain"
        assert found["conditions"]["sweep"]["grid"] == [1, 8, 64]
        assert found["not_claimed"] == list(published.tree.claims["training.sweep"].not_claimed)
        assert found["guide"] == "training/guide.html"
        assert found["citation"] is None

    def test_each_file_names_its_format_and_commit(self, published: SiteData, monkeypatch: pytest.MonkeyPatch) -> None:
        """The commit's own day, so that two builds of it give the same bytes; null outside of git."""
        outside = json.loads(exports.claims_json(published))
        assert (outside["format_version"], outside["commit"], outside["commit_date"]) == (1, None, None)
        monkeypatch.setattr(commit_date, "last_commit", lambda _: commit_date.Commit("a" * 40, "2026-11-20"))
        files = exports.json_files(published)
        for path in ("claims.json", "claims/training/time.json"):
            data = json.loads(files[path])
            assert (data["commit"], data["commit_date"]) == ("a" * 40, "2026-11-20")

    def test_an_unknown_address_is_null(self, site: SiteData) -> None:
        """And not an empty one, which would be the reader's own."""
        assert json.loads(exports.claims_json(site))["site"] is None


class TestCsv:
    """The samples."""

    @staticmethod
    def rows(site: SiteData, name: str) -> list[dict[str, str]]:
        """The rows of a claim's file."""
        claim = next(claim for claim in site.tree.measured() if claim.id == name)
        return list(csv.DictReader(io.StringIO(samples_csv.samples(claim, site))))

    def test_gives_the_figures_of_the_verdict(self, site: SiteData) -> None:
        """To the last digit: whoever computes them again finds what the page says."""
        point = site.board.standings["training.time"]["cpu"].verdict.points[0]  # type: ignore[union-attr]
        rows = self.rows(site, "training.time")
        for role in ("baseline", "subject", "control"):
            values = [float(row["value"]) for row in rows if row["role"] == role]
            assert tuple(values) == getattr(point, role)
        assert {row["unit"] for row in rows} == {"s"}
        assert median(float(row["value"]) for row in rows if row["arm"] == "clever") < 0.09

    def test_holds_every_session_that_counts(self, site: SiteData) -> None:
        """Also the one that disagrees; and each point of a sweep."""
        assert {row["date"] for row in self.rows(site, "training.disputed")} == {"2026-11-19", "2026-11-20"}
        assert {row["point"] for row in self.rows(site, "training.sweep")} == {
            "batch_size=1",
            "batch_size=8",
            "batch_size=64",
        }

    def test_holds_no_formula(self, site: SiteData) -> None:
        """A spreadsheet would run it."""
        for row in self.rows(hostile(site), "training.time"):
            assert not row["arm"].startswith(("=", "+", "-", "@"))
            assert HOSTILE.split("\n", maxsplit=1)[0] in row["arm"]


class TestBadge:
    """The SVG for READMEs."""

    def test_every_badge_is_small_drawn_in_words_and_loads_nothing(self, site: SiteData) -> None:
        """With a title that says it in full; nothing in it leads anywhere."""
        found = readme_badge.files(site)
        assert {"claims/training/time.svg", "claims/training/time.cpu.svg", "claims/training/cited.svg"} <= set(found)
        for text in found.values():
            assert len(text.encode()) <= 2048
            drawn = ET.fromstring(text)  # noqa: S314 - our own
            assert drawn.get("role") == "img"
            assert (drawn.findtext(f"{SVG}title") or "").startswith("Headroom: ")
            words = [each.text for each in drawn.iter(f"{SVG}text")]
            assert words[0] == "headroom"
            assert words[1]
            assert {element.tag.removeprefix(SVG) for element in drawn.iter()} == {
                "svg", "title", "rect", "path", "g", "text",
            }  # fmt: skip
            assert not re.search(r"href|url\(|style", text)

    def test_it_says_the_verdict_and_the_amount(self, site: SiteData) -> None:
        """On what; and of a claim on several classes, what speaks most against it."""
        messages = {
            badge.path: badge.message
            for claim in site.tree.claims.values()
            for badge in readme_badge.of_claim(claim, site)
        }
        plain = {path: message.replace("\u00a0", " ") for path, message in messages.items()}
        assert plain["claims/training/time.svg"] == "step time 20 % shorter, measured on cpu"
        assert plain["claims/training/slower.svg"] == "contradicted on cpu"
        assert plain["claims/training/sweep.svg"] == "gain from 8 sequences up on cpu"
        assert plain["claims/training/unmeasured.svg"] == "not measured yet"
        assert plain["claims/training/cited.svg"] == "cited: authors"

    def test_a_claim_on_two_classes_shows_the_worse_of_them(self, site: SiteData) -> None:
        """Nobody is told half of it."""
        standings = site.board.standings
        both = {"cpu": standings["training.time"]["cpu"], "h200": standings["training.slower"]["cpu"]}
        board = replace(site.board, standings={**standings, "training.time": both})
        found = readme_badge.of_claim(site.tree.claims["training.time"], replace(site, board=board))
        assert [badge.status for badge in found] == ["contradicted", "supported", "contradicted"]

    def test_a_strangers_text_stays_text(self, site: SiteData) -> None:
        """It names no element, and no attribute of one."""
        for text in readme_badge.files(hostile(site)).values():
            tags = {element.tag.removeprefix(SVG) for element in ET.fromstring(text).iter()}  # noqa: S314 - our own
            assert "script" not in tags
            assert "onload=" not in re.sub(r">[^<]*<", "><", text)

    def test_white_on_its_colours_can_be_read(self) -> None:
        """With a contrast of at least 4.5, the dark label among them."""
        for colour in (*readme_badge._COLOURS.values(), "#24313b"):
            parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
            red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
            assert 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 4.5

    def test_the_page_shows_what_to_paste(self, site: SiteData, published: SiteData) -> None:
        """With the address of the site, or with a word that stands for it and says so."""
        claim = site.tree.claims["training.time"]
        known, unknown = claim_page.render(claim, published), claim_page.render(claim, site)
        line = "[![Headroom: training.time](%sclaims/training/time.svg)](%sclaims/training/time.html)"
        assert line % (ADDRESS, ADDRESS) in known
        assert readme_badge.PLACEHOLDER not in known
        assert line % (readme_badge.PLACEHOLDER, readme_badge.PLACEHOLDER) in unknown
        assert "which the build was not told" in unknown


class TestCitation:
    """BibTeX, JSON-LD, and the file that the host of the repository reads."""

    def test_an_entry_names_claim_day_and_address(self, published: SiteData) -> None:
        """What somebody needs to find what was cited, as it stood."""
        found = citation.bibtex(published.tree.claims["training.time"], published)
        assert found.startswith("@misc{headroom-training-time,\n")
        for row in (
            "  title = {{Clever is faster}},",
            "  year = 2026,",
            "  month = nov,",
            "  note = {{Headroom, claim training.time: supported on an x86 server CPU, 2026-11-20}},",
            f"  url = {{{ADDRESS}claims/training/time.html}},",
        ):
            assert row in found.split("\n")

    def test_of_a_cited_claim_the_source_is_cited(self, published: SiteData) -> None:
        """It is not ours."""
        found = citation.bibtex(published.tree.claims["training.cited"], published)
        for row in (
            "  title = {{On cleverness}},",
            "  author = {{A. Author}},",
            "  url = {https://example.org/clever},",
        ):
            assert row in found.split("\n")
        assert "Headroom contributors" not in found

    def test_no_text_leaves_its_braces(self, site: SiteData) -> None:
        """BibTeX counts braces whatever stands before them; and nothing ends the fence or includes a file."""
        changed = hostile(site)
        found = citation.bibtex(changed.tree.claims["training.time"], changed)
        depth = 0
        for brace in re.findall(r"[{}]", found):
            depth += 1 if brace == "{" else -1
            assert depth >= 0
        assert depth == 0
        assert not set("`<>") & set(found)
        assert len(found.split("\n")) == 8

    def test_a_measured_claim_describes_its_data(self, published: SiteData) -> None:
        """For search engines of data sets: what, since when, by what licence, and where it lies."""
        element = citation.json_ld(published.tree.claims["training.time"], published)
        data = json.loads(re.fullmatch(r'<script type="application/ld\+json">(.*)</script>', element)[1])  # type: ignore[index]
        assert (data["@context"], data["@type"]) == ("https://schema.org", "Dataset")
        assert {"name", "description", "license", "creator", "dateModified", "distribution", "url"} <= set(data)
        files = {**exports.text_files(published, "x"), **exports.data_files(published)}
        for each in data["distribution"]:
            assert each["contentUrl"].removeprefix(ADDRESS) in files

    def test_what_has_no_data_describes_none(self, site: SiteData) -> None:
        """A claim that nobody measured, and one that is cited."""
        for name in ("training.unmeasured", "training.cited"):
            assert citation.json_ld(site.tree.claims[name], site) == ""

    def test_the_description_ends_where_it_should(self, site: SiteData) -> None:
        """No text of a record closes the element."""
        changed = hostile(site)
        element = citation.json_ld(changed.tree.claims["training.time"], changed)
        inside = element.removeprefix('<script type="application/ld+json">').removesuffix("</script>")
        assert not set("<>&") & set(inside)
        assert "alert(1)" in json.loads(inside)["description"]

    def test_the_file_for_the_host_is_valid(self) -> None:
        """What version 1.2.0 of the Citation File Format asks for, in its form, and the version that is ours."""
        found = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
        assert found["cff-version"] == "1.2.0"
        assert {"message", "title", "authors"} <= set(found)
        assert set(found) <= {
            "cff-version", "message", "title", "authors", "type", "abstract", "license", "version", "date-released",
            "keywords", "repository-code", "url",
        }  # fmt: skip
        assert found["type"] in ("software", "dataset")
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", found["date-released"])
        assert all(set(author) in ({"name"}, {"family-names", "given-names"}) for author in found["authors"])
        assert f'version = "{found["version"]}"' in (ROOT / "pyproject.toml").read_text("utf-8")
