"""What secrets look like. Every pattern is bounded, so that the time is linear in the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from traindx.redaction.assignments import ASSIGNMENTS


@dataclass(frozen=True)
class Kind:
    """One kind of secret: `triggers` are lower-case words without which a text cannot hold it.

    The group `secret` is masked, or the whole match where there is none; `real` may still decide against it.
    """

    name: str
    triggers: tuple[str, ...]
    pattern: re.Pattern[str]
    real: Callable[[re.Match[str]], bool] | None = None


# In base64 any prefix turns up by chance: a token starts where no letter or digit of another word stands before it.
_START = r"(?<![A-Za-z0-9+/_-])"


def _token(name: str, pattern: str, *triggers: str) -> Kind:
    return Kind(name, triggers, re.compile(f"{_START}(?:{pattern})"))


def _inside(name: str, pattern: str, *triggers: str) -> Kind:
    return Kind(name, triggers, re.compile(pattern, re.IGNORECASE))


def _is_mixed(text: str) -> bool:
    """Letters of both cases and digits: a checksum in hexadecimal has not all of them."""
    return any(c.islower() for c in text) and any(c.isupper() for c in text) and any(c.isdigit() for c in text)


# What each service gives out: https://docs.github.com/code-security/secret-scanning lists most of the prefixes.
TOKENS = (
    _token("anthropic-key", r"sk-ant-[\w-]{16,200}", "sk-ant-"),
    _token("openrouter-key", r"sk-or-v1-[0-9a-f]{32,64}", "sk-or-"),
    _token("langfuse-key", r"sk-lf-[0-9a-f-]{30,40}", "sk-lf-"),
    _token("openai-key", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,200}|sk-[A-Za-z0-9]{32,64}(?![\w-])", "sk-"),
    _token("huggingface-token", r"(?:hf|api_org)_[A-Za-z0-9]{30,40}(?!\w)", "hf_", "api_org_"),
    _token(
        "github-token",
        r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{50,100}",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
    ),
    _token(
        "gitlab-token",
        r"gl(?:pat|ptt|dt|rt|soat|cbt|agent|oas|ft)-[\w.-]{20,300}",
        "glpat-",
        "glptt-",
        "gldt-",
        "glrt-",
        "glsoat-",
        "glcbt-",
        "glagent-",
        "gloas-",
        "glft-",
    ),
    _token("bitbucket-token", r"ATBB[A-Za-z0-9]{32,40}|ATCTT3xFfG[\w=-]{50,300}", "atbb", "atctt3"),
    _token("atlassian-token", r"ATATT3[\w=-]{50,300}", "atatt3"),
    _token("aws-access-key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])", "akia", "asia", "abia", "acca"),
    _token("google-api-key", r"AIza[\w-]{35}", "aiza"),
    _token("google-oauth-token", r"ya29\.[\w-]{20,400}|GOCSPX-[\w-]{28}|1//0[\w-]{40,200}", "ya29.", "gocspx-", "1//0"),
    _token("azure-client-secret", r"[\w~.-]{3}[78]Q~[\w~.-]{31,34}", "q~"),
    _token("slack-token", r"xox[abeoprs]-[\w-]{10,250}|xapp-\d-[\w-]{10,250}", "xox", "xapp-"),
    _token(
        "stripe-key",
        r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,250}|whsec_[A-Za-z0-9+/=]{24,80}",
        "sk_live",
        "sk_test",
        "rk_live",
        "rk_test",
        "whsec_",
    ),
    _token("twilio-key", r"SK[0-9a-f]{32}(?![0-9A-Za-z])", "sk"),
    _token("sendgrid-key", r"SG\.[\w-]{16,32}\.[\w-]{16,64}", "sg."),
    _token("npm-token", r"npm_[A-Za-z0-9]{36}", "npm_"),
    _token("pypi-token", r"pypi-AgE[\w-]{40,250}", "pypi-age"),
    _token("docker-token", r"dckr_(?:pat|oat)_[\w-]{20,60}", "dckr_"),
    _token("databricks-token", r"dapi[0-9a-f]{32}(?:-\d)?(?![0-9A-Za-z])", "dapi"),
    _token("wandb-key", r"wandb_v1_[\w-]{30,120}", "wandb_v1_"),
    _token("neptune-token", r"eyJhcGlfYWRkcmVzcyI6[\w+/=-]{30,400}", "eyjhcglfywrkcmvzcyi6"),
    _token("replicate-token", r"r8_[A-Za-z0-9]{37,40}", "r8_"),
    _token("groq-key", r"gsk_[A-Za-z0-9]{40,60}", "gsk_"),
    _token("xai-key", r"xai-[A-Za-z0-9]{60,90}", "xai-"),
    _token("perplexity-key", r"pplx-[A-Za-z0-9]{40,60}", "pplx-"),
    _token("nvidia-key", r"nvapi-[\w-]{40,90}", "nvapi-"),
    _token("langsmith-key", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", "lsv2_"),
    _token("pinecone-key", r"pcsk_\w{40,90}", "pcsk_"),
    _token("runpod-key", r"rpa_[A-Za-z0-9]{30,60}", "rpa_"),
    _token("digitalocean-token", r"do[opr]_v1_[0-9a-f]{64}", "dop_v1_", "doo_v1_", "dor_v1_"),
    _token("vault-token", r"hv[sbr]\.[\w-]{24,200}", "hvs.", "hvb.", "hvr."),
    _token("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,80}", ".atlasv1."),
    _token("pulumi-token", r"pul-[0-9a-f]{40}", "pul-"),
    _token("grafana-token", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{30,120}", "glsa_", "glc_"),
    _token("shopify-token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", "shpat_", "shpca_", "shppa_", "shpss_"),
    _token("notion-token", r"ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43}(?!\w)", "ntn_", "secret_"),
    _token("linear-key", r"lin_api_[A-Za-z0-9]{40}", "lin_api_"),
    _token("postman-key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", "pmak-"),
    _token("newrelic-key", r"NRAK-[A-Z0-9]{27}", "nrak-"),
    _token("sentry-token", r"sntry[su]_[\w+/=-]{30,250}", "sntrys_", "sntryu_"),
    _token("supabase-token", r"sbp_[0-9a-f]{40}", "sbp_"),
    _token("telegram-token", r"\d{8,10}:AA[\w-]{32,34}", ":aa"),
    _token("discord-token", r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}", "."),
    _token("age-key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}", "age-secret-key-"),
    _token("jwt", r"eyJ[\w-]{8,2000}\.eyJ[\w-]{8,4000}\.[\w-]{10,1000}", "eyj"),
)

# Where the place tells what the value is.
PLACES = (
    Kind(
        "private-key",
        ("private key",),
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"(?P<secret>[^-]{16,20000})(?:-----END|(?=-)|$)"
        ),
    ),
    _inside("slack-webhook", r"hooks\.slack\.com/services/(?P<secret>[\w/]{20,80})", "hooks.slack.com"),
    _inside(
        "discord-webhook",
        r"discord(?:app)?\.com/api/webhooks/\d{10,25}/"
        r"(?P<secret>[\w-]{40,100})",
        "/api/webhooks/",
    ),
    _inside("teams-webhook", r"webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{40,200})", "webhook.office.com"),
    # In a DSN the user may be empty: redis://:password@host.
    _inside(
        "url-password",
        r"[a-z][a-z0-9+.-]{1,30}://[^\s:/@'\"\\\[]{0,100}:"
        r"(?P<secret>[^\s/@'\"\\]{1,200})@[\w\[]",
        "://",
    ),
    _inside("url-token", r"https?://(?P<secret>[\w.-]{16,200})@[\w.-]{3,200}", "://"),
    _inside(
        "url-query",
        r"[?&](?:access_token|api_?key|apikey|auth|client_secret|key|password|secret|sig|signature|token|"
        r"x-amz-(?:signature|security-token|credential)|x-goog-signature)=(?P<secret>[\w.~%+/=-]{8,2000})",
        "?",
        "&",
    ),
    _inside(
        "azure-key",
        r"(?:account|sharedaccess)key="
        r"(?P<secret>[a-z0-9+/]{40,120}={0,2})",
        "accountkey=",
        "sharedaccesskey=",
    ),
    _inside(
        "authorization-header",
        r"\bauthorization[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:bearer|basic|token|digest|apikey)\s{1,3}(?P<secret>[^\s\"'\\,]{6,4000})",
        "authorization",
    ),
    _inside("bearer", r"\bbearer\s{1,3}(?P<secret>[a-z0-9._~+/-]{20,4000}={0,2})", "bearer "),
    _inside(
        "key-header",
        r"\b(?:x-api-key|x-auth-token|x-vault-token|api-key|private-token|x-goog-api-key|ocp-apim-subscription-key)"
        r"[\"']?\s{0,3}:\s{0,3}\\?[\"']?(?P<secret>[\w.~+/=-]{8,500})",
        "x-api-key",
        "x-auth-token",
        "x-vault-token",
        "api-key",
        "private-token",
        "x-goog-api-key",
        "ocp-apim",
    ),
    _inside(
        "cookie",
        r"\b(?:set-)?cookie[\"']?: {0,3}[\"']?"
        r"(?P<secret>[\w.-]{1,80}=[^\r\n\"'\\]{4,4000})",
        "cookie",
    ),
    _inside("netrc", r"\blogin\s{1,10}\S{1,100}\s{1,10}password\s{1,10}(?P<secret>\S{1,200})", "login"),
    # A tool may show that line alone, or with a number before it.
    _inside(
        "netrc",
        r"\bpassword[ \t]{1,10}(?P<secret>(?=[^\s\"\\]{0,60}\d)[^\s\"\\]{6,200})(?=[ \t]{0,10}(?:$|[\r\n\"\\]))",
        "password",
    ),
    Kind(
        "private-key-line",
        ("+", "/", "0", "1", "2", "3", "4", "5"),
        # PEM wraps at 64 characters, OpenSSH at 70: such a line may be shown without the one that says what it is.
        re.compile(r"(?:^|(?<=[\n\t\"# ])|(?<=\\[nt]))(?P<secret>[A-Za-z0-9+/]{70}|[A-Za-z0-9+/]{64})(?=$|[\r\n\"\\])"),
        lambda match: _is_mixed(match.group("secret")),
    ),
    _inside(
        "wandb-login",
        r"\bwandb login (?:--\w{1,20} ){0,3}"
        r"(?P<secret>[0-9a-f]{40}|local-[0-9a-f]{40})",
        "wandb login",
    ),
    _inside(
        "curl-user",
        r"\bcurl\b[^\n]{0,300}?\s(?:-u|--user)[ =][\"']?[^\s:\"']{1,100}:"
        r"(?P<secret>[^\s\"']{1,200})",
        "curl",
    ),
    _inside(
        "kubeconfig-key",
        r"\bclient-key-data[\"']?:\s{0,3}[\"']?"
        r"(?P<secret>[a-z0-9+/=]{20,20000})",
        "client-key-data",
    ),
    _inside("docker-auth", r"\"auth\\?\":\s{0,3}\\?\"(?P<secret>[a-z0-9+/]{12,500}={0,2})", '"auth'),
    _inside(
        "kaggle-key",
        r"\"username\\?\":[^}\n]{1,200}?\"key\\?\":\s{0,3}\\?\""
        r"(?P<secret>[0-9a-f]{32})",
        '"username',
    ),
    _inside(
        "aws-secret",
        r"\baws_?secret_?(?:access_?)?key[\"']?\s{0,5}[:=]\s{0,5}\\?[\"']?"
        r"(?P<secret>[a-z0-9+/=]{30,60})",
        "secret",
    ),
)

KINDS: tuple[Kind, ...] = (
    *PLACES,
    *TOKENS,
    *(Kind(name, triggers, pattern, real) for name, triggers, pattern, real in ASSIGNMENTS),
)
