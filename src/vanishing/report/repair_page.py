"""The page of a report on a repair: facts in, one HTML document out."""

from vanishing.report.frame import rendered
from vanishing.report.repair_facts import RepairFacts
from vanishing.report.settings import CELLS


def repair_page_of(facts: RepairFacts, **heading) -> str:
    """Return the document; `rendered` says what a heading may have."""
    changed = facts.changed
    return rendered(
        "repair_page.html",
        facts,
        "Repair of {}",
        **heading,
        left_out=set() if changed else {"cells"},
        changed=changed[:CELLS],
        n_changed=len(changed),
    )
