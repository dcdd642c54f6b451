"""The report on a box: its links in words, the slowest pair, findings, what the text cannot show, and advice."""

from dataclasses import asdict, dataclass

from headroom.topology.codes import kind
from headroom.topology.findings import Finding, findings
from headroom.topology.link_groups import groups, shape, slowest
from headroom.topology.model import Pair, Topology
from headroom.topology.wording import fill, listed

STRATEGIES = ("DDP", "FSDP", "TP", "PP")
_LEVELS = {"fault": "likely fault"}
"""What is printed before a finding, where it is not the level's name."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a topology text says, in sentences."""

    topology: Topology
    summary: str
    slowest: str
    slowest_pair: Pair | None
    findings: tuple[Finding, ...]
    codes: tuple[tuple[str, str], ...]
    limits: tuple[str, ...]
    advice: dict[str, str]

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON values."""
        box = self.topology
        return {
            "command": box.command,
            "gpus": list(box.gpus),
            "nics": [[nic, box.names.get(nic, "")] for nic in box.nics],
            "links": [[*pair, code] for pair, code in box.links.items()],
            "cpus": box.cpus,
            "numa": box.numa,
            "hops": [[*pair, hops] for pair, hops in box.hops.items()],
            "weights": [[*pair, weight] for pair, weight in box.weights.items()],
            "peers": [
                {"capability": each.capability, "status": [[*pair, code] for pair, code in each.status.items()]}
                for each in box.peers
            ],
            "summary": self.summary,
            "slowest": self.slowest,
            "slowest_pair": list(self.slowest_pair) if self.slowest_pair else None,
            "findings": [{**asdict(each), "gpus": list(each.gpus)} for each in self.findings],
            "codes": [list(each) for each in self.codes],
            "limits": list(self.limits),
            "advice": self.advice,
        }

    def text(self) -> str:
        """Return the report for a terminal."""
        lines = [self.summary, *([self.slowest] if self.slowest else [])]
        for title, rows in (
            ("Findings", [f"{_LEVELS.get(each.level, each.level)}: {each.text}" for each in self.findings]),
            ("Codes", [f"{code}: {means}" for code, means in self.codes]),
            ("What this text cannot show", self.limits),
            ("On this box", [f"{name}: {says}" for name, says in self.advice.items()]),
        ):
            if rows:
                lines += ["", f"{title}:", *(f"  {row}" for row in rows)]
        return "\n".join(lines)


def report(topology: Topology) -> Report:
    """Return the report on a topology."""
    slow = slowest(topology) if shape(topology) != "view" else None
    return Report(
        topology=topology,
        summary=_summary(topology),
        slowest=_slowest(topology, *slow) if slow else "",
        slowest_pair=slow[1][0] if slow else None,
        findings=tuple(findings(topology)),
        codes=tuple((code, fill(f"code.{code}")) for code in _codes(topology)),
        limits=tuple(fill(f"limit.{name}") for name in _limits(topology)),
        advice={name: fill(f"advice.{shape(topology)}.{name}", **_values(topology)) for name in STRATEGIES},
    )


def _summary(topology: Topology) -> str:
    count = len(topology.nics)
    cards = fill("cards.one" if count == 1 else "cards.some", count=count) if count else ""
    return fill(f"summary.{shape(topology)}", cards=cards, **_values(topology))


def _slowest(topology: Topology, code: str, pairs: list[Pair]) -> str:
    total = len(topology.gpu_pairs())
    name = "slowest.some" if len(pairs) < total else "slowest.all" if total > 1 else "slowest.one"
    one, other = pairs[0]
    return fill(name, code=code, means=fill(f"code.{kind(code)}"), one=one, other=other, count=len(pairs), total=total)


def _codes(topology: Topology) -> list[str]:
    """Return the codes of the text with NV# for all numbers of links, in the order of the legend."""
    used = {kind(code) for code in topology.links.values()}
    return [code for code in ("NV#", "XGMI", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC", "PCIE") if code in used]


def _limits(topology: Topology) -> list[str]:
    """Return the names of what the text cannot show."""
    if len(topology.gpus) == 1 and not topology.nics:
        return []
    rocm = topology.command.startswith("rocm")
    return ["quality-amd" if rocm else "quality", "peer-amd" if rocm else "peer", "outside"]


def _values(topology: Topology) -> dict[str, object]:
    """Return the values of the sentences on the whole box."""
    found = groups(topology)
    largest = max((len(each.members) for each in found), default=1)
    codes = [code for each in found for code in each.codes]
    slow, rocm = slowest(topology), topology.command.startswith("rocm")
    return {
        "n": len(topology.gpus),
        "link": "XGMI" if rocm else "NVLink",
        "joins": f"NVLink ({listed(dict.fromkeys(codes))})" if not rocm else "XGMI",
        "largest": largest,
        "groups": "; ".join(listed(each.members) for each in found),
        "slow": slow[0] if slow else "",
    }
