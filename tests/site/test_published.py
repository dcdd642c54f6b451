"""Published data: JSON with schemas, CSV, badges and citations."""

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

from headroom.io import git_history
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
    """Return the small tree with a public address."""
    return replace(site, address=ADDRESS)


def hostile(site: SiteData) -> SiteData:
    """Return the same tree with hostile texts in a claim."""
    claim = site.tree.claims["training.time"]
    changed = claim.model_copy(update={"statement": HOSTILE, "subject": f"={HOSTILE}", "baseline": f"@{HOSTILE}"})
    return replace(site, tree=replace(site.tree, claims={**site.tree.claims, claim.id: changed}))


class TestJson:
    """claims.json, and the file of each claim."""

    def test_each_file_is_valid_by_the_schema_it_names(self, published: SiteData) -> None:
        """The schema is published next to it."""
        found = exports.json_files(published)
        files = {path: text for path, text in found.items() if path.startswith("claims")}
        assert len(files) == 1 + len(published.tree.claims)
        for text in files.values():
            data = json.loads(text)
            schema = json.loads(found[data["$schema"]])
            jsonschema.Draft202012Validator.check_schema(schema)
            jsonschema.validate(data, schema, cls=jsonschema.Draft202012Validator)

    def test_extra_and_missing_fields_break_the_schema(self, published: SiteData) -> None:
        """Check both."""
        data = json.loads(exports.json_files(published)["claims.json"])
        schema = schemas()["claims-file"]
        for break_ in (lambda claim: claim.update(odd=1), lambda claim: claim.pop("standings")):
            broken = json.loads(json.dumps(data))
            break_(broken["claims"][0])
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(broken, schema)

    def test_every_field_of_the_schema_has_a_description(self) -> None:
        """Exempt names that explain themselves."""
        fields = schemas()["claims-file"]["$defs"]["PublishedPoint"]["properties"]
        assert "above 1 if the subject is better" in fields["ratio"]["description"]

    def test_every_path_is_a_published_file(self, published: SiteData) -> None:
        """Paths are relative to the site's address."""
        made = {**exports.pages(published), **exports.json_files(published), **exports.text_files(published, "x")}
        known = {path.replace(".md", ".html") for path in made} | set(exports.data_files(published))
        data = json.loads(made["claims.json"])
        assert data["site"] == ADDRESS
        for claim in data["claims"]:
            paths = [claim["page"], claim["samples"], *claim["badges"].values()]
            paths += [each["evidence"] for each in (*claim["standings"].values(), *claim["history"])]
            assert {path for path in paths if path} <= known

    def test_a_sweep_has_its_crossover_and_a_session_its_versions(self, published: SiteData) -> None:
        """Check both in the claim's file."""
        claims = {each["id"]: each for each in json.loads(exports.claims_json(published))["claims"]}
        standing = claims["training.sweep"]["standings"]["cpu"]
        assert standing["crossover"] == {"kind": "from", "edge": 8, "between": [1, 8]}
        assert standing["versions"] == {"python": "3.11.7", "torch": "2.13.0"}
        assert standing["product"] == "Made-up Xeon"
        assert claims["training.time"]["standings"]["cpu"]["crossover"] is None
        assert claims["training.unmeasured"]["samples"] is None

    def test_a_cited_claim_has_its_source_and_reporter(self, published: SiteData) -> None:
        """Programs must not take the statement for this project's result."""
        found = json.loads(exports.json_files(published)["claims/training/cited.json"])["claim"]
        claim = published.tree.claims["training.cited"]
        assert (found["kind"], found["verdict"], found["conditions"]) == ("cited", "cited", None)
        assert found["statement"] == f"Reported by A. Author (2024), not measured here: {claim.statement}"
        citation = found["citation"]
        assert {"url", "locator", "title", "authors", "year"} <= citation["source"].keys()
        assert citation["source"]["url"] == "https://example.org/clever"
        assert citation["quote"]
        assert citation["figures"][0]["as_printed"] in citation["quote"]

    def test_a_measured_claim_has_its_verdict_and_conditions(self, published: SiteData) -> None:
        """Check also what is not claimed."""
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
        """Outside of git the commit is null."""
        outside = json.loads(exports.claims_json(published))
        assert (outside["format_version"], outside["commit"], outside["commit_date"]) == (1, None, None)
        monkeypatch.setattr(git_history, "last_commit", lambda _: git_history.Commit("a" * 40, "2026-11-20"))
        files = exports.json_files(published)
        for path in ("claims.json", "claims/training/time.json"):
            data = json.loads(files[path])
            assert (data["commit"], data["commit_date"]) == ("a" * 40, "2026-11-20")

    def test_an_unknown_address_is_null(self, site: SiteData) -> None:
        """An empty address would mean the reader's own site."""
        assert json.loads(exports.claims_json(site))["site"] is None


class TestCsv:
    """The samples."""

    @staticmethod
    def rows(site: SiteData, name: str) -> list[dict[str, str]]:
        """Return the rows of a claim's file."""
        claim = next(claim for claim in site.tree.measured() if claim.id == name)
        return list(csv.DictReader(io.StringIO(samples_csv.samples(claim, site))))

    def test_samples_reproduce_the_verdicts_figures(self, site: SiteData) -> None:
        """Compare every digit."""
        point = site.board.standings["training.time"]["cpu"].verdict.points[0]  # type: ignore[union-attr]
        rows = self.rows(site, "training.time")
        for role in ("baseline", "subject", "control"):
            values = [float(row["value"]) for row in rows if row["role"] == role]
            assert tuple(values) == getattr(point, role)
        assert {row["unit"] for row in rows} == {"s"}
        assert median(float(row["value"]) for row in rows if row["arm"] == "clever") < 0.09

    def test_it_has_every_session_that_counts(self, site: SiteData) -> None:
        """Include contradicting sessions and every point of a sweep."""
        assert {row["date"] for row in self.rows(site, "training.disputed")} == {"2026-11-19", "2026-11-20"}
        assert {row["point"] for row in self.rows(site, "training.sweep")} == {
            "batch_size=1",
            "batch_size=8",
            "batch_size=64",
        }

    def test_no_cell_is_a_formula(self, site: SiteData) -> None:
        """Spreadsheets run formulas."""
        for row in self.rows(hostile(site), "training.time"):
            assert not row["arm"].startswith(("=", "+", "-", "@"))
            assert HOSTILE.split("\n", maxsplit=1)[0] in row["arm"]


class TestBadge:
    """The SVG badge for READMEs."""

    def test_every_badge_is_small_has_text_and_loads_nothing(self, site: SiteData) -> None:
        """The title has the full sentence, and nothing is a link."""
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

    def test_the_badge_has_verdict_amount_and_class(self, site: SiteData) -> None:
        """For several classes it has the worst status."""
        messages = {
            badge.path: badge.message
            for claim in site.tree.claims.values()
            for badge in readme_badge.of_claim(claim, site)
        }
        plain = {path: message.replace("\u00a0", " ") for path, message in messages.items()}
        assert plain["claims/training/time.svg"] == "step time 20 % shorter, measured on cpu"
        assert plain["claims/training/slower.svg"] == "contradicted on cpu"
        assert plain["claims/training/sweep.svg"] == "depends on cpu"
        assert plain["claims/training/unmeasured.svg"] == "not measured yet"
        assert plain["claims/training/cited.svg"] == "cited: authors"

    def test_the_badge_of_two_classes_has_the_worse_verdict(self, site: SiteData) -> None:
        """Check the title, too."""
        standings = site.board.standings
        both = {"cpu": standings["training.time"]["cpu"], "h200": standings["training.slower"]["cpu"]}
        board = replace(site.board, standings={**standings, "training.time": both})
        found = readme_badge.of_claim(site.tree.claims["training.time"], replace(site, board=board))
        assert [badge.status for badge in found] == ["contradicted", "supported", "contradicted"]

    def test_hostile_texts_are_escaped(self, site: SiteData) -> None:
        """Check elements and attributes."""
        for text in readme_badge.files(hostile(site)).values():
            tags = {element.tag.removeprefix(SVG) for element in ET.fromstring(text).iter()}  # noqa: S314 - our own
            assert "script" not in tags
            assert "onload=" not in re.sub(r">[^<]*<", "><", text)

    def test_white_text_has_enough_contrast(self) -> None:
        """Expect at least 4.5, also on the dark label."""
        for colour in (*readme_badge._COLOURS.values(), "#24313b"):
            parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
            red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
            assert 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 4.5

    def test_the_page_shows_the_badges_markdown(self, site: SiteData, published: SiteData) -> None:
        """Without an address it has a placeholder and explains it."""
        claim = site.tree.claims["training.time"]
        known, unknown = claim_page.render(claim, published), claim_page.render(claim, site)
        line = "[![Headroom: training.time](%sclaims/training/time.svg)](%sclaims/training/time.html)"
        assert line % (ADDRESS, ADDRESS) in known
        assert readme_badge.PLACEHOLDER not in known
        assert line % (readme_badge.PLACEHOLDER, readme_badge.PLACEHOLDER) in unknown
        assert "which was not set when it was built" in unknown


class TestCitation:
    """BibTeX, JSON-LD and CITATION.cff."""

    def test_an_entry_has_claim_day_and_address(self, published: SiteData) -> None:
        """Check the fields."""
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

    def test_a_cited_claims_entry_cites_its_source(self, published: SiteData) -> None:
        """The statement is not this project's."""
        found = citation.bibtex(published.tree.claims["training.cited"], published)
        for row in (
            "  title = {{On cleverness}},",
            "  author = {{A. Author}},",
            "  url = {https://example.org/clever},",
        ):
            assert row in found.split("\n")
        assert "Headroom contributors" not in found

    def test_braces_in_texts_are_escaped(self, site: SiteData) -> None:
        """BibTeX counts braces after a backslash, too; nothing may end the fence or include a file."""
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
        """Check name, date, licence and address of the data set."""
        element = citation.json_ld(published.tree.claims["training.time"], published)
        data = json.loads(re.fullmatch(r'<script type="application/ld\+json">(.*)</script>', element)[1])  # type: ignore[index]
        assert (data["@context"], data["@type"]) == ("https://schema.org", "Dataset")
        assert {"name", "description", "license", "creator", "dateModified", "distribution", "url"} <= set(data)
        files = {**exports.text_files(published, "x"), **exports.data_files(published)}
        for each in data["distribution"]:
            assert each["contentUrl"].removeprefix(ADDRESS) in files

    def test_a_claim_without_data_has_no_description(self, site: SiteData) -> None:
        """Check an unmeasured and a cited claim."""
        for name in ("training.unmeasured", "training.cited"):
            assert citation.json_ld(site.tree.claims[name], site) == ""

    def test_hostile_texts_do_not_end_the_description(self, site: SiteData) -> None:
        """Check the script element."""
        changed = hostile(site)
        element = citation.json_ld(changed.tree.claims["training.time"], changed)
        inside = element.removeprefix('<script type="application/ld+json">').removesuffix("</script>")
        assert not set("<>&") & set(inside)
        assert "alert(1)" in json.loads(inside)["description"]

    def test_citation_cff_is_valid(self) -> None:
        """Check the required fields of version 1.2.0 and our version."""
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
