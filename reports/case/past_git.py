"""All that went past git, in the same words in every report, as each counts another part of it."""

from auditor.model.change import Write
from reports.case.dossier import Dossier, is_own_object
from reports.words.rich import Text, joined, ref, words
from reports.words.wording import count


def past_git(dossier: Dossier) -> Text:
    """`Past git in all: 19 changes of what is deployed; 14 changes of …; 1 write not shown to …`.

    () where nothing is apart from the changes of what is deployed.
    """
    parts = parted(len(dossier.counted), len(dossier.settings), len(dossier.unproven))
    return words("Past git in all: ", parts, ".") if parts else ()


def parted(deployed: int, own: int, unproven: int) -> Text:
    """The parts of which reports count the first; () where that is all there is."""
    if not own and not unproven:
        return ()
    parts: list[Text] = [words(f"{count(deployed, 'change')} of what is deployed")]
    if own:
        parts.append(words(f"{count(own, 'change')} of ", ref("the GitOps tool’s own objects", "#own")))
    if unproven:
        apart = ref("not shown to have changed anything", "#unproven")
        parts.append(words(f"{count(unproven, 'write')} ", apart))
    return joined(parts, "; ")


def part_of(write: Write) -> int:
    """The place among the parts of a write past git."""
    if write.persisted != "proven":
        return 2
    return 1 if is_own_object(write.object) else 0
