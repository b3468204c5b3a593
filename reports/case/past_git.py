"""All that went past git, in the same words in every report, as each counts another part of it."""

from reports.case.dossier import Dossier
from reports.words.rich import Text, joined, ref, words
from reports.words.wording import count


def past_git(dossier: Dossier) -> Text:
    """`Past git in all: 19 changes of what is deployed; 14 changes of …; 1 write not shown to …`.

    () where nothing is apart from the changes of what is deployed.
    """
    if not dossier.settings and not dossier.unproven:
        return ()
    parts: list[Text] = [words(f"{count(len(dossier.counted), 'change')} of what is deployed")]
    if dossier.settings:
        own = ref("the GitOps tool’s own objects", "#own")
        parts.append(words(f"{count(len(dossier.settings), 'change')} of ", own))
    if dossier.unproven:
        apart = ref("not shown to have changed anything", "#unproven")
        parts.append(words(f"{count(len(dossier.unproven), 'write')} ", apart))
    return words("Past git in all: ", joined(parts, "; "), ".")
