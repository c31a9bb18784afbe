"""Secrets never leave, and what merely looks like one stays as it is."""

import pytest

from tests.hostile_inputs import LOOKS_SECRET
from traindx.redaction import Redactor

LETTERS = "aB3dE7gH1jK9mN2pQ5rS8tU4vW6xY0zC"


def mix(length: int) -> str:
    """Letters and digits as services generate them; made here, so that no scanner finds a token in this file."""
    return (LETTERS * (length // len(LETTERS) + 1))[:length]


def digits16(length: int) -> str:
    return ("0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 4)[:length]


def checksum(length: int) -> str:
    return ("9a8b7c6d5e4f30211203f4e5d6c7b8a9" * 4)[:length]


def upper(length: int) -> str:
    return ("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" * 2)[:length]


JWT = f"eyJ{mix(20)}.eyJ{mix(60)}.{mix(43)}"
# (what it is, the text around it with {}, the secret)
SECRETS: list[tuple[str, str, str]] = [
    ("anthropic", "ANTHROPIC key {} was used", f"sk-ant-api03-{mix(80)}"),
    ("openai project", "key={}", f"sk-proj-{mix(60)}"),
    ("openai legacy", "openai.api_key = '{}'", f"sk-{mix(48)}"),
    ("openrouter", "OPENROUTER {}", f"sk-or-v1-{digits16(64)}"),
    ("langfuse", "langfuse {}", f"sk-lf-{digits16(8)}-{digits16(4)}-{digits16(4)}-{digits16(4)}-{digits16(12)}"),
    ("huggingface", "login(token='{}')", f"hf_{mix(34)}"),
    ("github classic", "https://api.github.com {}", f"ghp_{mix(36)}"),
    ("github fine-grained", "{}", f"github_pat_{mix(22)}_{mix(59)}"),
    ("gitlab", "CI_TOKEN {}", f"glpat-{mix(20)}"),
    ("bitbucket", "{} pushed", f"ATBB{mix(32)}"),
    ("atlassian", "jira {}", f"ATATT3{mix(60)}"),
    ("aws id", "aws_access_key_id = {}", f"AKIA{upper(16)}"),
    ("aws temporary id", "using {} now", f"ASIA{upper(16)}"),
    ("aws secret", "aws_secret_access_key = {}", f"{mix(20)}/{mix(19)}"),
    ("aws session token", "AWS_SESSION_TOKEN={}", f"IQoJ{mix(100)}"),
    ("google api", "maps {}", f"AIza{mix(35)}"),
    ("google oauth", "access {}", f"ya29.{mix(60)}"),
    ("google client secret", "client {}", f"GOCSPX-{mix(28)}"),
    ("azure storage", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};", f"{mix(86)}=="),
    ("azure client secret", "secret value {}", f"abc8Q~{mix(34)}"),
    ("azure sas", "https://x.blob.core.windows.net/c?sv=2024&sig={}", f"{mix(43)}%3D"),
    ("wandb variable", "export WANDB_API_KEY={}", digits16(40)),
    ("wandb login", "$ wandb login {}", digits16(40)),
    ("wandb new key", "wandb {}", f"wandb_v1_{mix(70)}"),
    ("comet", "COMET_API_KEY: {}", mix(25)),
    ("neptune", 'NEPTUNE_API_TOKEN="{}"', f"eyJhcGlfYWRkcmVzcyI6{mix(80)}"),
    ("clearml", 'api { credentials { "secret_key" = "{}" } }'.replace("{ ", "( ").replace(" }", " )"), mix(50)),
    ("mlflow", "MLFLOW_TRACKING_PASSWORD={}", "correct-horse"),
    ("slack bot", "slack {}", f"xoxb-{'1' * 12}-{mix(24)}"),
    ("slack webhook", "https://hooks.slack.com/services/{}", f"T{upper(8)}/B{upper(8)}/{mix(24)}"),
    ("discord webhook", "https://discord.com/api/webhooks/{}".replace("{}", "1" * 18 + "/{}"), mix(68)),
    ("telegram", "bot{} ".replace("bot", "bot "), f"{'1' * 9}:AA{mix(33)}"),
    ("stripe", "{}", f"sk_live_{mix(24)}"),
    ("twilio", "twilio {}", f"SK{digits16(32)}"),
    ("sendgrid", "mail {}", f"SG.{mix(22)}.{mix(43)}"),
    ("npm", "//registry.npmjs.org/:_authToken={}", f"npm_{mix(36)}"),
    ("pypi", "password = {}", f"pypi-AgEIcHlwaS5vcmc{mix(80)}"),
    ("docker token", "docker login -p {}", f"dckr_pat_{mix(27)}"),
    ("docker config", '{"auths": {"ghcr.io": {"auth": "@@"}}}'.replace("@@", "{}").replace('{"', '("'), f"{mix(40)}=="),
    ("databricks", "DATABRICKS {}", f"dapi{digits16(32)}"),
    ("replicate", "r {}", f"r8_{mix(37)}"),
    ("groq", "g {}", f"gsk_{mix(52)}"),
    ("nvidia", "ngc {}", f"nvapi-{mix(64)}"),
    ("xai", "x {}", f"xai-{mix(80)}"),
    ("langsmith", "l {}", f"lsv2_pt_{digits16(32)}_{digits16(10)}"),
    ("pinecone", "p {}", f"pcsk_{mix(60)}"),
    ("digitalocean", "d {}", f"dop_v1_{digits16(64)}"),
    ("vault", "v {}", f"hvs.{mix(30)}"),
    ("jwt", "session {}", JWT),
    ("private key", "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", f"{mix(64)}\n{mix(64)}"),
    ("openssh key", "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----", mix(64)),
    ("pgp key", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n{}\n-----END PGP PRIVATE KEY BLOCK-----", mix(64)),
    ("gcp service account", '"private_key_id": "{}",', digits16(40)),
    ("url password", "git clone https://alice:{}@git.example.org/x.git", "s3cr3t!pass"),
    ("url token", "git clone https://{}@github.com/x/y", mix(24)),
    ("postgres", "postgresql://trainer:{}@db:5432/runs", "tr41n"),
    ("redis", "redis://:{}@cache:6379/0", "hunter2"),
    ("mongodb", "mongodb+srv://u:{}@cluster0.mongodb.net", "p4ssw0rd"),
    ("yaml password", "db:\n  password: {}\n  host: x", "hunter2"),
    ("quoted yaml password", 'password: "{}"', "two words, and a comma"),
    ("env password", "DB_PASSWORD={}", "hunter2"),
    ("json api key", '"api_key": "{}"', mix(20)),
    ("json in json", "\\n2\\tpassword: {}\\n3\\thost", "hunter2x"),
    ("python assignment", "client_secret = '{}'", "abcdef"),
    ("camel case", '"dbPassword": "{}"', "hunter2"),
    ("dict access", "os.environ['HF_TOKEN'] = '{}'", "hf-own-format-99887766"),
    ("bare token", "token: {}", mix(40)),
    ("command line", "python train.py --api-key {} --lr 1e-3", mix(20)),
    ("command line password", "python train.py --db-password={} --lr 1e-3", "hunter2"),
    ("command line token", "python train.py --hub-token {}", mix(30)),
    ("bearer header", "Authorization: Bearer {}", mix(40)),
    ("basic header", '"authorization": "Basic {}"', "dXNlcjpwYXNz"),
    ("key header", "x-api-key: {}", mix(30)),
    ("cookie", "Cookie: {}", f"session={mix(30)}; theme=dark"),
    ("netrc", "machine api.wandb.ai\n  login user\n  password {}\n", digits16(40)),
    ("curl", "curl -s -u admin:{} https://x", "hunter2"),
    ("kubeconfig", "    client-key-data: {}", f"{mix(200)}=="),
    ("kaggle", '"username":"bob","key":"{}"', digits16(32)),
    ("signed url", "https://b.s3.amazonaws.com/x?X-Amz-Signature={}", digits16(64)),
    ("passphrase", "ssh passphrase = {}", "open-sesame"),
]

LOOK_ALIKES = [
    f"commit {checksum(40)}",
    f"HEAD is now at {checksum(7)} fix the loader",
    f"sha256:{checksum(64)}",
    f"md5sum {checksum(32)}  model.pt",
    f"etag: {checksum(32)}",
    "run id 123e4567-e89b-12d3-a456-426614174000",
    "wandb: run 3k9x2p7q at https://wandb.ai/team/project/runs/3k9x2p7q",
    f"mlflow run_id: {checksum(32)}",
    "token_embedding.weight torch.Size([50257, 768])",
    "transformer.wte.token_embedding: 38597376",
    "num_tokens: 4096",
    "max_tokens=512",
    "tokens_per_second: 18234.5",
    "tokenizer: gpt2",
    "tokenizer_name_or_path: meta-llama/Llama-3.1-8B-Instruct",
    'pad_token: "<|endoftext|>"',
    "eos_token: </s>",
    'bos_token = "<|begin_of_text_00001234567|>"',
    "eos_token_id: 128001",
    "key_padding_mask=None",
    "attn.key.weight: torch.Size([768, 768])",
    "primary_key: id",
    "sort_key = 'length'",
    "secret_santa_dataset: data/santa.csv",
    "api_key = os.environ['OPENAI_API_KEY']",
    "api_key: ${OPENAI_API_KEY}",
    "password = args.password",
    "password: null",
    "token: str | None = None",
    "use_auth_token: true",
    "hf_hub_download(repo_id='bert-base-uncased')",
    "facebook/opt-1.3b",
    "sk-learn 1.5.2",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    f"pixel base64 {mix(200)[::-1]}",
    "#ff8800 #00AAFF",
    "seed: 1234567890123456789",
    "2026-11-03T12:34:56.789012Z",
    "epoch 7 | step 24590 | loss 27.6908 | lr 4.0e-01 | grad_norm 6.978",
    "PWD=/home/alice/project",
    "https://user@example.org/path",
    "http://localhost:6006/#scalars",
    "s3://bucket/run:7/checkpoint@latest",
    "rank 0: 10.0.0.1:29500",
    "checkpoint-1200/model-00001-of-00004.safetensors",
    f"cache key key-{checksum(32)}.arrow",
    "CUDA_VISIBLE_DEVICES=0,1,2,3",
    "torch==2.4.0+cu121",
    "author: Jane Doe <jane@example.org>",
    "--max-new-tokens 128 --token-dropout 0.1 --pad-token 0",
    "Authorization was checked",
    "The cookie monster dataset: cookies=12",
    "optimizer.state.exp_avg_sq['layers.0.attention.wk.weight']",
    "ghp and npm_config_cache=/tmp",
    "next_token = logits.argmax(dim=-1)",
    "AKIA is a prefix",
    "vocab['tokens'] = 8213",
    "class PasswordField(Field):",
    "encoder.layer.0.attention.self.key.bias",
]


@pytest.mark.parametrize(("what", "text", "secret"), SECRETS, ids=[row[0] for row in SECRETS])
def test_a_secret_is_masked_and_the_rest_stays(what: str, text: str, secret: str) -> None:
    redactor = Redactor()
    cleaned = redactor.clean(text.replace("{}", secret))
    assert secret not in cleaned
    for piece in secret.split():
        assert piece not in cleaned.split()
    assert "[masked:" in cleaned
    assert redactor.count >= 1
    before, after = text.split("{}")
    assert cleaned.startswith(before.rstrip("\"' ")[:10])
    assert cleaned.endswith(after[-6:])


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_look_alike_stays(text: str) -> None:
    redactor = Redactor()
    assert redactor.clean(text) == text
    assert redactor.count == 0


def test_both_tables_are_as_long_as_promised() -> None:
    assert len({row[0] for row in SECRETS}) >= 40
    assert len(set(LOOK_ALIKES)) >= 40


@pytest.mark.parametrize(("what", "text", "secret"), SECRETS, ids=[row[0] for row in SECRETS])
def test_masking_twice_changes_nothing(what: str, text: str, secret: str) -> None:
    redactor = Redactor()
    once = redactor.clean(text.replace("{}", secret))
    assert Redactor().clean(once) == once


def test_the_same_text_counts_once() -> None:
    redactor = Redactor()
    for _ in range(3):
        redactor.clean("DB_PASSWORD=hunter2")
    assert redactor.count == 1
    assert redactor.said() == "1 secret was masked before anything was sent (assigned-secret 1)"


def test_json_values_are_visited_and_a_key_names_its_value() -> None:
    redactor = Redactor()
    cleaned = redactor.clean_json(
        {"db": {"password": "hunter2", "host": "x"}, "rows": ["redis://:pw@h", 3, None], "max_tokens": 512}
    )
    assert cleaned == {
        "db": {"password": "[masked:assigned-secret]", "host": "x"},
        "rows": ["redis://:[masked:url-password]@h", 3, None],
        "max_tokens": 512,
    }


def test_user_names_are_masked_on_request_only() -> None:
    text = "/home/alice/run and C:\\Users\\Bob\\run and /Users/carol/x and /home/runner/work"
    assert Redactor().clean(text) == text
    cleaned = Redactor(user_names=True).clean(text)
    assert cleaned == "/home/[user]/run and C:\\Users\\[user]\\run and /Users/[user]/x and /home/runner/work"


@pytest.mark.parametrize("hostile", LOOKS_SECRET, ids=range(len(LOOKS_SECRET)))
def test_hostile_text_is_read_to_its_end(hostile: str) -> None:
    assert Redactor().clean(hostile + " the end").endswith(" the end")
