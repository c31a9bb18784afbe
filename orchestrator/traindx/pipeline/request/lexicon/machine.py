"""Memory, errors, devices, ranks, schedulers, packages."""

from __future__ import annotations

from traindx.pipeline.request.lexicon.phrase import Phrase, phrase

MEMORY: tuple[Phrase, ...] = (
    phrase(
        r"\b(?:memory|v?ram|rss)\b~\b(?:leak\w*|grow\w*|grew|increas\w*|creep\w*|climb\w*|accumulat\w*"
        r"|go(?:es|ing)? up|went up|rise|rises|rising|rose|balloon\w*|pil\w+ up|more and more|build\w* up"
        r"|keeps? going)",
        memory_growth=5,
    ),
    phrase(
        r"\b(?:more and more|growing|increasing|rising|leak\w*|eat\w*|consum\w*|hog\w*"
        r"|using up)~\b(?:memory|v?ram)\b",
        memory_growth=4,
    ),
    phrase(
        r"(?<!label )(?<!data )\b(?:memory )?leak(?:s|ing|ed)?\b(?!age)"
        r"(?! (?:between|into|from|across|through) (?:the |my )?(?:split|train|val|test|fold|label|set))",
        memory_growth=2.5,
    ),
    phrase(
        r"\bout ?of ?memory\w*|\boom\b|\boom-?kill\w*|\bresource_?exhausted\w*|\bmemory ?error"
        r"|\bcannot allocate memory|\b(?:ran|runs?|running) out of (?:\w+ )?(?:memory|v?ram)"
        r"|\bnot enough (?:\w+ )?(?:memory|v?ram)|\bcuda oom\b",
        out_of_memory=5,
    ),
    phrase(r"\b(?:gpu|v?ram|memory)\b~\b(?:full|exceeded|exhausted|maxed)", out_of_memory=4),
    phrase(r"<not> (?:\w+ ){0,2}?fit (?:in|on|into)~\b(?:memory|gpu|v?ram|card)", out_of_memory=4),
    phrase(r"\b(?:shared memory|shm|/dev/shm|num_workers)\b", cause=True, crash=2, data=1),
    phrase(
        r"\b(?:not enough|too (?:small|little)|insufficient)~\b(?:memory|v?ram)|\bmemory~\btoo small",
        cause=True,
        out_of_memory=3,
    ),
)

CRASHES: tuple[Phrase, ...] = (
    phrase(r"\btraceback\b", crash=3),
    phrase(r"\b[a-z]{2,40}(?:error|exception)\b", crash=2.5),
    phrase(r"\bcrash\w*", crash=3.5),
    phrase(
        r"\b(?:fail(?:s|ed|ing)?|died|dies|abort\w*|breaks?|broke|quits?|exit(?:s|ed)"
        r"|terminat\w*|bails?|dead)\b~\b(?:at|after|in|during|on|with|before|as soon as|when|immediately"
        r"|right away|out)\b",
        says="The run failed",
        crash=2.5,
    ),
    phrase(r"\b(?:training|run|job|it|script|process|program|\w*\.?fit) (?:just |suddenly )?stop(?:s|ped)\b", crash=2),
    phrase(r"\b(?:throw(?:s|n|ing)?|threw|rais(?:es|ed|ing)(?! (?:the |my )?(?:lr|learning|rate|batch)))\b", crash=2.5),
    phrase(
        r"\bsegfault\w*|\bsegmentation fault|\bcore dumped|\bbus error|\bsig(?:segv|bus|abrt|kill)"
        r"|\bexit code \d+",
        crash=4,
    ),
    phrase(
        r"\b(?:shape|size|dimension|dtype|type)s? (?:mismatch|do(?:es)? ?n[o']?t match|error)"
        r"|\bsize of tensor|\bmat1 and mat2|\bmust match|\bexpected all tensors",
        says="Tensors do not fit together",
        crash=3.5,
    ),
    phrase(
        r"<not> (?:\w+ )?(?:start|run|launch|work) (?:at all|anymore|any more)?|\b(?:job|training|run"
        r"|it) (?:has )?(?:failed|died|crashed)",
        crash=2,
    ),
    phrase(
        r"(?<!training )(?<!train )(?<!validation )(?<!val )(?<!test )(?<!relative )(?<!squared )(?<!absolute )"
        r"(?<!mean )\berrors?\b(?! ?(?:rate|bar|curve))",
        crash=1.5,
    ),
    phrase(
        r"\bno such file|\bfile ?not ?found\w*|\bpermission denied|\bdisk (?:is )?full|\bno space left"
        r"|\bquota",
        crash=4,
    ),
    phrase(
        r"\bcuda (?:error|failure)|\bcudnn\w*|\bcublas\w*|\bdevice-side assert\w*|\billegal memory access"
        r"|\bxid\b|\becc error|\boff the bus|\bno kernel image|\bunspecified launch|\bmisaligned address"
        r"|\binvalid device",
        cuda_error=5,
    ),
    phrase(
        r"\bcuda\b~(?:<not>) (?:\w+ )?available|\bgpu~(?:<not>) (?:\w+ )?(?:found|detected|used|visible)"
        r"|\bdriver version",
        cuda_error=4,
    ),
    phrase(r"\bcuda\b", cuda_error=1),
    phrase(
        r"\bhardware~\b(?:error|fault|problem|issue|failure|defect)|\b(?:broken|faulty|bad|dying"
        r"|defect\w*) (?:gpu|card|hardware|ram)|\bgpu~\b(?:broken|dying|faulty|defect\w*)",
        cause=True,
        cuda_error=3,
    ),
    phrase(r"\bnccl\w*|\ball_?reduce|\bcollectives?\b|\brendezvous|\bprocess group|\bgloo\b", distributed=4),
    phrase(
        r"\bddp\b|\bfsdp\b|\bdeepspeed|\btorchrun|\bmulti-?\s?(?:gpu|node)|\bworld_?size|\branks?\b"
        r"|\bhorovod|\bdistributed\b",
        distributed=2.5,
    ),
    phrase(
        r"\bhang(?:s|ing)?\b|\bhung\b|\bfre+zes?\b|\bdeadlock\w*|\bstands still|\bnot responding"
        r"|\bno (?:new )?(?:output|log lines?|logs|prints?) (?:for|since|after|any ?more)"
        r"|\bstuck (?:at|in|on) (?:the )?(?:epoch 0|step 0|first|beginning|start|init)"
        r"|\bno (?:\w+ )?activity"
        r"|\bnothing (?:(?:more |new |else )(?:happens|comes)|(?:more |new |else )?is (?:printed|logged)|since|for \d)"
        r"|\b(?:just|simply|silently|suddenly) (?:stops?|stopped)\b"
        r"|\bstop(?:s|ped) (?:logging|printing|responding|making)|\bsits there\b|\bnot moving any ?more"
        r"|\b(?:been|sits?|sitting|stays?|still) (?:\w+ ){0,3}(?:like (?:this|that)|there|at (?:the )?(?:same|this))"
        r"~\b(?:since|for|hours?)"
        r"|\bis (?:it|the (?:job|run|process|training)) (?:dead|still (?:alive|running|working))"
        r"|\b(?:dead|alive) or (?:dead|alive|stuck|slow)"
        r"|\blast (?:line|log|output|message) (?:is|was)\b.{0,30}\bago\b"
        r"|\bhours? without (?:a |any )?(?:line|output|progress)"
        r"|\bstuck (?:for|since|overnight|forever)|\bstall(?:s|ed) (?:for|at|after) (?:\d+ (?:h|min)|step|iter|batch)",
        hang=4,
    ),
    phrase(
        r"\btime ?limit|\bwall-?\s?(?:time|clock)|\bpreempt\w*|\bcancel+ed|\bscancel|\bsigterm"
        r"|\bkeyboardinterrupt|\bspot instance",
        interrupted=4,
    ),
    phrase(r"\bkilled\b(?! (?:it|the|my))", interrupted=2.5, out_of_memory=1),
    phrase(r"\bslurm\w*|\bqueue\b|\bsbatch|\bcluster\b", interrupted=1.5),
    phrase(
        r"\bno module named|\b(?:module ?not ?found|import) ?error|\bcannot import|\bundefined symbol"
        r"|\bversion (?:mismatch|conflict)|\bincompatib\w*|\bpip install|\bdependenc\w*",
        environment=4,
    ),
    phrase(
        r"\b(?:transformers|lightning|pytorch|torch|tensorflow|keras|jax|numpy|apex|xformers|flash.?attn"
        r"|wandb|docker|conda)\b~\b(?:broken|missing|outdated|version|upgrade\w*|downgrade\w*|updat\w*)",
        environment=3.5,
    ),
)
