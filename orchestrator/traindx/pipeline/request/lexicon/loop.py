"""Speed, data, checkpoints, evaluation and the code of the loop."""

from __future__ import annotations

from traindx.pipeline.request.lexicon.phrase import Phrase, phrase

LOOP: tuple[Phrase, ...] = (
    phrase(r"\bslow\w*\b|\bsluggish", slow_training=2.5),
    phrase(r"\bslower (?:and slower|every|each|over)|\bget\w* slower", slow_training=3, memory_growth=1),
    phrase(
        r"\btak(?:es?|ing) (?:forever|too long|so long|ages|hours|days|an eternity|way too)|\b(?:hours"
        r"|days|minutes) (?:per|for one|for an) epoch"
        r"|\b(?:epoch|step|iteration|batch) time\b",
        slow_training=4,
    ),
    phrase(
        r"\b(?:gpu|device)~\b(?:idle|starv\w*|waiting|util\w*|usage|load)\b|\bthroughput|\bit/s\b|\bs/it\b|\b(?:samples"
        r"|tokens)(?: per |/)s\w*|\bbottleneck\w*",
        slow_training=3.5,
    ),
    phrase(
        r"\b(?:speed (?:it |this |things |\w+ )?up|(?:make|get)~faster|run faster|more efficient\w*)", slow_training=2.5
    ),
    phrase(
        r"\b(?:data|label|target|test|train\w*|val\w*)[ -]leak\w*|\bleakage\b|\bcontaminat\w*"
        r"|\bleak\w* (?:between|into|from|across|through) (?:the |my )?(?:split|train|val|test|fold|label|set)\w*",
        data=3,
        evaluation=3,
    ),
    phrase(
        r"\b(?:corrupt\w*|broken|bad|wrong|mislabel\w*|duplicate\w*|dirty|weird)~\b(?:data\w*|labels?"
        r"|batch(?:es)?|samples?|images?|files?|shards?|annotations?|tokeni[sz]er)\b|\b(?:data|labels?"
        r"|batch|images?)~\b(?:corrupt\w*|wrong|shuffled|misaligned|garbage)",
        cause=True,
        data=3.5,
    ),
    phrase(
        r"\bclass imbalance|\b(?:im|un)balanced|\bempty (?:graphs?|batch\w*|dataset|sequences?)"
        r"|\bmissing (?:features|labels|values)|\boov\b",
        data=3,
    ),
    phrase(
        r"\bdata ?loaders?\b|\bdata pipeline|\bpreprocess\w*|\baugment(?:s|ed|ing|ations?)?\b|\bcollate\w*"
        r"|\bnormali[sz]\w*|\bshards?\b|\bshuffl\w*|\bdatasets?\b",
        asks=True,
        data=1.2,
    ),
    phrase(
        r"\bcheckpoint\w*|\bckpt\w*|\bstate_dict\w*|\bsafetensors|\b(?:missing|unexpected) key"
        r"|\btorch\.load|\bmodel zoo|\bpre-?trained weights",
        asks=True,
        checkpoint=3,
    ),
    phrase(r"\bload\w*~\b(?:weights|model|\.pth?\b)|\bsav(?:e|ed|ing)~\b(?:weights|model)", checkpoint=2.5),
    phrase(
        r"\bresum\w*|\bcontinu\w+ (?:training|from)|\brestart\w*~\b(?:from|after|the job)|\bafter (?:a "
        r"|the )?restart\w*",
        resume=3,
    ),
    phrase(
        r"\btoo good to be true|\bsuspicious\w*|\b(?:two )?different~(?:<metric>|\bresults?|\bnumbers)"
        r"|\binconsisten\w*|\breproduc\w*|\bnon-?determinis\w*|\bdeterministic",
        evaluation=3,
    ),
    phrase(
        r"<val>~(?:<metric>|<loss>)?~\b(?:higher|better|lower)~\bthan~\btrain\w*|<metric>~\b(?:100 ?%"
        r"|1\.0+\b)~\b(?:first|from|epoch 1|immediately)",
        evaluation=3.5,
    ),
    phrase(
        r"\btrain\w*~\b(?:higher|worse|lower)~\bthan~<val>|\bshifted by\b|\boff by one\b|\blag(?:s|ging)? by",
        evaluation=3,
    ),
    phrase(
        r"\barchitectur\w*|\b(?:under|over)-?param\w*|\bparam\w*~\bembedding\w*|\bembedding\w*~\bparam\w*"
        r"|\bparameter (?:imbalance|distribution|count)|\bcapacity\b",
        asks=True,
        architecture=3,
    ),
    phrase(r"\bmodel\.eval\b|\beval mode|\bno_grad|\bvalidat(?:es?|ing) twice|\bconfusion matrix", evaluation=2),
    phrase(
        r"\bzero_?grad|\boptimi[sz]er\.step|\bloss\.backward|\bclip\w*~\b(?:grad\w*|in|to|norm)"
        r"|\bclipping\b|\b(?:lr_?)?scheduler\b|\brequires_?grad|\bgrad(?:ient)? is none|\btraining_step"
        r"|\bin-?place|\bgradient accumulation|\baccumulat\w+ gradients",
        asks=True,
        training_code=3.5,
    ),
    phrase(
        r"\bsoftmax|\bbce\w*|\bnllloss|\bloss function|\bactivation\w*|\bfrozen|\bfreez(?:e|ing)\b"
        r"|\bbatch ?norm\w*|\belements of input",
        asks=True,
        training_code=2.5,
    ),
)
