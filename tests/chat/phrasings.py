"""Questions as people type them, and words that the answer must hold; `B` the broken run, `H` healthy, `P` poor."""

B, H, P = "schedule-change", "schedule-change-healthy", "poor-folder"
ISSUE = "The learning rate goes from 0.015 to 0.4"
FIX = "Set `schedule[1].lr` in config.yaml:17 to 0.015 or less"
DIFF = "-    lr: 0.4\n+    lr: 0.015"
CITED = "> 17      lr: 0.4"
VERIFY = "Run to two logged points past epoch 7"
FALLBACK = "Hold the rate constant over that step"
EXPECT = "The loss stays near 0.102"
UNKNOWN = "this run does not show what it would do"

PHRASINGS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    # why, what does that mean
    (B, "why?", (ISSUE, "metrics.csv, line 8", "narrow valley")),
    (B, "Why did this happen", (ISSUE,)),
    (B, "what does that mean?", (ISSUE, "narrow valley")),
    (B, "can you explain it in simple words", (ISSUE,)),
    (B, "what's the problem", (ISSUE,)),
    (B, "what went wrong?", (ISSUE,)),
    (B, "I don't understand", (ISSUE,)),
    (B, "why is the loss so high?", (ISSUE,)),
    (B, "tell me more", (ISSUE, "/explain lr-schedule-spike")),
    (P, "why?", ("Not certain", "What would settle it", "tee train.log")),
    (H, "what went wrong?", ("looks healthy",)),
    # show me, where, prove it
    (B, "show me", (CITED, "verified")),
    (B, "where is it?", (CITED,)),
    (B, "prove it", (CITED,)),
    (B, "how do you know?", (">  8  7,0.4,27.6908",)),
    (B, "what makes you think so", (CITED,)),
    (B, "which line is it?", (CITED,)),
    (P, "show me the evidence", ("train.log, line 5", "> 5  INFO train: epoch  2/60")),
    (H, "show me the evidence", ("looks healthy",)),
    # fix
    (B, "how do I fix it?", (FIX, DIFF, EXPECT)),
    (B, "what should I change?", (FIX, DIFF)),
    (B, "what should I do?", (FIX,)),
    (B, "give me the diff", (DIFF,)),
    (B, "what's the solution?", (FIX,)),
    (B, "do I have to start from scratch?", ("no later than epoch 6",)),
    (B, "how do I fix exploding gradients?", ("not what was found here", "Clip the total gradient norm")),
    (P, "how do I fix it", ("not certain (0.",)),
    (H, "how do I fix it", ("looks healthy",)),
    # verify, expect, and if that fails
    (B, "how do I verify it?", (VERIFY, "0.153")),
    (B, "how do I know that it worked?", (VERIFY,)),
    (B, "how can I check that the fix works", (VERIFY,)),
    (B, "what should I expect?", (EXPECT,)),
    (B, "will it help?", (EXPECT,)),
    (B, "what if that doesn't help?", (FALLBACK,)),
    (B, "is there another fix", (FALLBACK,)),
    # what if
    (
        B,
        "what if I halve the lr?",
        ("0.2 instead of 0.4", "falling at 0.015 and broke at 0.4", "only a test run can tell"),
    ),
    (B, "what if I double the learning rate", ("0.8 instead of 0.4", "the same or worse")),
    (B, "should I lower the learning rate to 0.01?", ("0.01 instead of 0.4", "safe side", EXPECT)),
    (B, "what if I divide the lr by 10", ("0.04 instead of 0.4", "only a test run can tell")),
    (B, "what if I use clipping", ("no gradient clipping in the config", UNKNOWN, FIX)),
    (B, "would clipping help?", (UNKNOWN,)),
    (B, "what if I use batch 64", ("`batch_size` = 50 (config.yaml:3)", "64 instead of 50", UNKNOWN)),
    (B, "would more epochs help?", ("`epochs` = 12 (config.yaml:2)", UNKNOWN)),
    (B, "can I just use Adam?", (UNKNOWN,)),
    (B, "what if I hold the schedule constant", (FIX,)),
    (B, "what if I train on another planet", ("does not show what that would do", FIX)),
    (H, "what if I double the batch size?", ("100 instead of 50", "looks healthy", "This run does not show")),
    # what else could it be
    (
        B,
        "what else could it be?",
        ("`learning-rate-too-high`", "follows from `lr-schedule-spike`"),
    ),
    (B, "what did you rule out?", ("Considered and set aside",)),
    (B, "is that the only problem?", ("What would tell them apart",)),
    (B, "could it be overfitting?", ("`overfitting` is not what was found", "against it: `train_loss` rose")),
    (B, "is the learning rate too high?", ("set aside", "follows from `lr-schedule-spike`")),
    (B, "what is overfitting?", ("learning individual samples",)),
    (B, "is it the batch size?", ("Not according to the evidence", "`batch_size` = 50")),
    (B, "is it because of the learning rate?", ("Yes.", ISSUE)),
    # what next
    (B, "what next?", (FIX, VERIFY, "ten times its usual value")),
    (B, "what should I log?", ("grad_norm",)),
    (P, "what do you need from me?", ("Add the config file", "diagnose again")),
    (P, "what is missing?", ("no Python code",)),
    (H, "what should I log?", ("Keep logging loss",)),
    # is it healthy, how sure
    (H, "is it healthy?", ("The run looks healthy",)),
    (H, "is my run ok?", ("The run looks healthy",)),
    (B, "is everything fine?", ("Not healthy.", "critical")),
    (P, "is it healthy?", ("too early to tell",)),
    (B, "how sure are you?", ("0.98", "3 of 3 citations")),
    (P, "are you certain?", ("hypothesis, not a finding",)),
    # values of metrics
    (B, "what was the lr at epoch 7?", ("`lr` at epoch 7: 0.4 (metrics.csv:8)",)),
    (B, "what was the lr at step 500?", ("logged per epoch (epoch 1 to 12), not per step",)),
    (B, "val loss at epoch 99", ("there is no epoch 99",)),
    (B, "what was the best val loss?", ("`val_loss` at epoch 5: 0.1058 (metrics.csv:6), its best",)),
    (B, "best accuracy", ("`val_acc` at epoch 5: 0.964 (metrics.csv:6), its best",)),
    (B, "what was the worst validation accuracy?", ("0.15 (metrics.csv:11), its worst",)),
    (B, "lowest train loss", ("at epoch 6: 0.102 (metrics.csv:7)",)),
    (B, "what was the highest gradient norm?", ("at epoch 9: 7.235",)),
    (B, "final accuracy?", ("at epoch 12: 0.169",)),
    (B, "compare train and val loss", ("`train_loss`: 1.5443", "`val_loss`: 0.8758")),
    (B, "what was the loss before it broke?", ("at epoch 6: 0.102",)),
    (B, "when was the val loss lowest?", ("at epoch 5: 0.1058",)),
    (B, "how long did it run?", ("epoch 12",)),
    (B, "best test accuracy", ("No test accuracy was logged. Logged: `lr`, `train_loss`",)),
    (B, "what was the test loss at epoch 3?", ("No test loss was logged",)),
    (B, "what was the momentum at epoch 3?", ("not logged over time", "`momentum` = 0.9")),
    # settings
    (B, "which lr?", ("`schedule[1].lr` = 0.4 (config.yaml:17)", "`lr`: 0.015 at epoch 1")),
    (B, "what is the batch size?", ("`batch_size` = 50 (config.yaml:3)",)),
    (B, "what is the momentum", ("`momentum` = 0.9 (config.yaml:5)",)),
    (B, "weight decay?", ("`weight_decay` = 0.0005 (config.yaml:6)",)),
    (B, "where is the learning rate set?", ("config.yaml:17",)),
    (B, "which optimizer?", ("the code builds `sgd`",)),
    (B, "what is the dropout?", ("No metric and no setting for dropout",)),
    (P, "what is the batch size?", ("`batch_size` = 50 (train.log:1)",)),
    # when
    (B, "when did it start?", ("At epoch 7; the last good point is epoch 6.",)),
    (B, "at which epoch did it go wrong?", ("At epoch 7",)),
    (B, "where does the loss break?", ("At epoch 7",)),
    (H, "when did it start?", ("looks healthy",)),
    # manners, and what is not understood
    (B, "thanks!", ("You are welcome", VERIFY)),
    (B, "hi", ("/help",)),
    (B, "what can you do?", ("/help",)),
    (B, "purple elephants", ("did not understand", "/help")),
    (B, "what's the weather like", ("did not understand",)),
)
