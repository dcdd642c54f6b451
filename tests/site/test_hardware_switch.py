"""The hardware switch of a page and its data."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import markdown
import pytest
import yaml

from headroom.site import hardware_switch
from headroom.site.markdown_extension import HeadroomExtension
from headroom.site.site_data import PageContext, SiteData

FIGURES = ("64.0\u00a0MiB\u00a0→\u00a018.2\u00a0MiB", "saved-activation memory at 64 sequences")
CPU, BOTH, NONE = (PageContext("training/guide.md", classes) for classes in (("cpu",), ("cpu", "h200"), ()))


def rendered(site: SiteData, text: str, page: PageContext = CPU) -> ET.Element:
    """Return a page as the site renders it."""
    html = markdown.markdown(f"# Title\n\n{text}", extensions=[HeadroomExtension(site=site, page=lambda: page)])
    return ET.fromstring(f"<div>{html.replace('<br>', '<br/>')}</div>")  # noqa: S314 - our own output


def data_of(site: SiteData, text: str, page: PageContext = CPU) -> dict[str, Any]:
    """Return the data at the end of a page."""
    found = rendered(site, text, page).find(f"./script[@id='{hardware_switch.DATA}']")
    assert found is not None
    data: dict[str, Any] = json.loads(found.text or "")
    return data


def test_the_switch_is_below_the_title_and_lists_every_class(site: SiteData) -> None:
    """The page's own class is first, and the search leaves the switch out."""
    title, _, switch, _, _ = page = rendered(site, "[x](claim:training.time)")
    assert [title.tag, switch.get("class"), page[-1].tag] == ["h1", "hardware-switch", "script"]
    assert "data-search-exclude" in switch.attrib
    choices = switch.findall(".//option")
    assert [each.get("value") for each in choices] == ["", *site.tree.classes]
    assert choices[0].text == "as on this page: cpu"
    assert [each.get("data-name") for each in choices[1:]] == [known.name for known in site.tree.classes.values()]


def test_a_class_without_any_verdict_is_named_so(site: SiteData) -> None:
    """The clean tree has sessions of a CPU alone."""
    page = rendered(site, "[x](claim:training.time)", PageContext("training/guide.md", ("h200",)))
    own, *choices = page.findall(".//option")
    assert own.text == "as on this page: h200 (nothing measured yet)"
    named = {each.get("value"): (each.text or "").endswith("(nothing measured yet)") for each in choices}
    assert named == {"cpu": False, "h200": True}


@pytest.mark.parametrize(
    "text", ["nothing", "[x](claim:training.cited)", "[1](claim:training.time#ratio@cpu)", "[x](fact:h200.memory)"]
)
def test_a_page_without_measured_claims_has_no_switch(site: SiteData, text: str) -> None:
    assert not [each for each in rendered(site, text).iter() if each.tag in ("script", "select")]


def test_a_page_with_fixed_hardware_has_no_switch(site: SiteData) -> None:
    page = PageContext.of("find/list.md", {"hardware": ["cpu"], "hardware_fixed": True})
    found = rendered(site, "[x](claim:training.time)", page)
    assert found.find(".//a") is not None
    assert found.find(".//select") is found.find(".//script") is None


def test_the_data_have_the_claims_results_on_other_classes(site: SiteData) -> None:
    """Cells also have figures; claims without a link are left out."""
    found = data_of(site, "[x](claim:training.memory) and [](claim:training.part)")
    assert found == {
        "training.memory": {"h200": ["supported", "counted on a CPU", found["training.memory"]["h200"][2]]},
        "training.part": {"h200": [*found["training.part"]["h200"][:3], *FIGURES]},
    }
    assert "an x86 server CPU" in found["training.memory"]["h200"][2]


def test_a_class_without_evidence_is_absent(site: SiteData) -> None:
    """A time never carries over."""
    assert data_of(site, "[x](claim:training.time)") == {}
    assert data_of(site, "[x](claim:training.unmeasured)") == {}


@pytest.mark.parametrize(("page", "classes"), [(CPU, {"h200"}), (BOTH, {"cpu", "h200"}), (NONE, {"cpu", "h200"})])
def test_only_a_pages_single_class_is_left_out(site: SiteData, page: PageContext, classes: set[str]) -> None:
    """A badge about two classes needs the data of each."""
    assert set(data_of(site, "[x](claim:training.memory)", page)["training.memory"]) == classes


def test_hostile_class_names_do_not_end_the_script_element(own_root: Path) -> None:
    path = own_root / "checks/facts/hardware-classes.yml"
    classes = yaml.safe_load(path.read_text("utf-8"))
    hostile = "</script><script>alert(1)</script> &amp; <!--"
    classes["cpu"]["name"] = classes["h200"]["short"] = hostile
    path.write_text(yaml.safe_dump(classes), "utf-8")
    site = SiteData.load(own_root)
    html = markdown.markdown("[x](claim:training.memory)", extensions=[HeadroomExtension(site=site, page=lambda: CPU)])
    assert html.count("</script>") == 1
    assert "<script>alert" not in html
    assert "<!--" not in html
    inside = html.partition('id="headroom-claims">')[2] or html.partition('type="application/json">')[2]
    sentence = json.loads(inside.partition("</script>")[0])["training.memory"]["h200"][2]
    assert hostile in sentence


def test_a_class_without_a_short_name_is_shown_by_its_id(site: SiteData) -> None:
    assert site.short_name("cpu") == "cpu"
    assert site.short_name("nothing") == "nothing"
