"""What the model puts out, and what its recurrent state does."""

from __future__ import annotations

from traindx.pipeline.request.lexicon.phrase import Phrase, phrase
from traindx.vocabulary.kinds import STATE

OUTPUTS: tuple[Phrase, ...] = (
    phrase(r"\bmode[ -]?collaps\w*", mode_collapse=6),
    phrase(
        r"\b(?:same|identical|single|one) (?:\w+ )?(?:token|word|character|char|letter|colon|sentence"
        r"|image|sample|output|class|answer|response|text|face|digit|prediction|label|caption|picture)s?\b",
        mode_collapse=3.5,
    ),
    phrase(r"([:;,|@$%^&)(\]\[}{/<>\"'])\1{3,}", says="Outputs repeat one token", mode_collapse=3),
    phrase(
        r"\b(?:output\w*|predict\w*|generat\w*|produc\w*|answer\w*|says|prints|returns|emits"
        r"|spits out)~\b(?:only|just|nothing but|always|the same|identical|repeat\w*)\b",
        mode_collapse=3,
    ),
    phrase(
        r"\b(?:only|always|just|keeps?) (?:output\w*|predict\w*|generat\w*|produc\w*|answer\w*|repeat\w*"
        r"|saying)",
        mode_collapse=3.5,
    ),
    phrase(r"\b(?:regardless of|whatever|no matter)~\b(?:input|prompt|image|feed|give)", mode_collapse=3),
    phrase(
        r"\brepeat\w*~\b(?:token|word|itself|over and over)|\bover and over\b|\b(?:token"
        r"|word)s?~\brepeat\w*",
        mode_collapse=2.5,
    ),
    phrase(r"\b([a-z]{1,20})(?: \1){3,}\b", says="Outputs repeat one word", mode_collapse=3),
    phrase(
        r"\b(?:everything|all|every \w+)~\b(?:predicted|classified|labell?ed)\b|\bpredict\w* as class"
        r"|\boutput\w*~\b(?:gr[ae]y|blank|black|white|zeros?|constant|blurry|noise|the mean)\b",
        mode_collapse=3,
    ),
    phrase(r"\b(?:gibberish|nonsense|garbage (?:output|text)|(?:no|lack of|low) diversity)\b", mode_collapse=2.5),
    phrase(
        r"\b(?:posterior|kl|latent|codebook|representation)~\bcollaps\w*|\bkl\b~(?:\b0\b|\bzero"
        r"|\bvanish\w*)",
        mode_collapse=5,
    ),
    phrase(r"\bgans?\b|\bwgan\w*", says="A GAN does not train as it should", gan_balance=2),
    phrase(
        r"\bdiscriminator\b|\bgenerator~\b(?:loss|gradient|learn\w*|worse|signal)|\b[dg]_loss\b"
        r"|\bcritic loss",
        gan_balance=3.5,
    ),
)

STATE_WORDS: tuple[Phrase, ...] = (
    phrase(
        r"\b(?:hidden|cell|recurrent|lstm|rnn|gru|internal)[ _'-](?:s )?states?\b(?!_dict)",
        {STATE: 1},
        asks=True,
        state_handling=3.5,
    ),
    phrase(r"\bdetach\w*", {STATE: 1}, asks=True, state_handling=3.5),
    phrase(
        r"\bstates?\b~\b(?:handl\w*|manage\w*|reset\w*|carr(?:y|ied|ies)\w*|preserv\w*|leak\w*|flow\w*"
        r"|kept)",
        {STATE: 1.5},
        asks=True,
        state_handling=4,
    ),
    phrase(
        r"\b(?:reset|carry|keep|pass|preserv|re-?initiali[sz]|zero)\w*~\b(?:hidden|states?)\b(?!_dict)",
        asks=True,
        state_handling=3,
    ),
    phrase(
        r"\bt?bptt\b|\btruncated back\w*|\bback-?prop\w* through time|\brepackage_hidden|\binit_hidden"
        r"|\bstateful\b",
        {STATE: 1},
        asks=True,
        state_handling=3.5,
    ),
    phrase(
        r"\bbackward through the graph|\bthrough the graph a second|\bretain_graph|\bautograd error"
        r"|\bgraph~\bfreed",
        {STATE: 1},
        asks=True,
        says="Backward ran through a graph that was already freed",
        state_handling=4,
        crash=1,
    ),
    phrase(
        r"\bignor\w* (?:the )?(?:history|past|context|previous)|\bforgets? (?:the )?(?:context|history|past)"
        r"|\bno memory of|\bonly (?:depends?|looks?|uses?)~\b(?:last|current)\b"
        r"|\bpredicts? (?:the )?(?:last|previous|current) value",
        {STATE: 1},
        says="The model ignores what came before",
        state_handling=4,
        not_learning=1,
    ),
    phrase(
        r"\bexpected hidden\b|\bhidden\[[01]\]|\bbidirectional\b", {STATE: 1.5}, asks=True, state_handling=2.5, crash=2
    ),
    phrase(
        r"\b(?:lstm_)?[hc]_(?:n|t|norm|max)\b|\|[hc]\||\b(?:state|hidden|cell) norms?\b",
        {STATE: 1},
        asks=True,
        state_handling=2.5,
    ),
    phrase(
        r"\b(?:bi)?(?:lstm|gru|rnn)s?\b|\brecurrent\b|\bseq(?:uence)? ?len(?:gth)? ?(?:of |= ?)?1\b"
        r"|\bsingle time ?steps?",
        {STATE: 1.5},
        asks=True,
    ),
)
