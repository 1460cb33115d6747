"""The keys whose issuer gave them a shape of their own, so that they cannot be mistaken.

One line an issuer: name of the pattern, how its keys begin, and what follows. None of them holds a
blank, so that they are only looked for in long words.
"""

import re
from typing import Final

from .rules import Rule
from .values import is_filler

_SHAPES: Final = (
    # Clouds
    ("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{60,400}"),
    ("aws-session-token", "IQoJb3JpZ2lu FwoGZXIvYXdz", r"[A-Za-z0-9+/]{60,2000}"),
    ("google-api-key", "AIza", r"[\w-]{35}(?![\w-])"),
    ("google-oauth-secret", "GOCSPX-", r"[\w-]{24,48}"),
    ("google-oauth-token", "ya29.", r"[\w-]{20,2000}"),
    ("google-refresh-token", "1//0", r"[\w-]{38,200}"),
    ("azure-connection-key", "AccountKey= SharedAccessKey=", r"[A-Za-z0-9+/]{40,88}={1,2}"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
    ("alibaba-access-key", "LTAI", r"[A-Za-z0-9]{17,24}(?![\w-])"),
    ("tencent-secret-id", "AKID", r"[A-Za-z0-9]{32}(?![\w-])"),
    ("heroku-key", "HRKU-AA", r"[\w-]{40,80}"),
    ("cloudflare-origin-key", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{146}"),
    ("fly-token", "fm1_ fm2_ fo1_", r"[\w+/=-]{40,2000}"),
    ("supabase-key", "sbp_ sb_secret_", r"[\w-]{24,80}"),
    ("planetscale-key", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.=-]{32,64}"),
    ("netlify-token", "nfp_ nfc_ nfo_", r"[A-Za-z0-9]{36,60}"),
    ("databricks-token", "dapi", r"[a-f0-9]{32}(?![a-f0-9])"),
    ("vault-token", "hvs. hvb. hvr.", r"[\w-]{24,400}"),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim.", r"[\w.-]{40,80}"),
    ("pulumi-token", "pul-", r"[a-f0-9]{40}(?![a-f0-9])"),
    ("tailscale-key", "tskey-", r"(?:auth|api|client|webhook|scim)-\w{8,40}-\w{16,64}"),
    # Forges and package registries
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,255}"),
    ("github-token", "github_pat_", r"\w{36,255}"),
    (
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- glffct- GR1348941",
        r"[\w.-]{20,300}",
    ),
    ("gitea-token", "gto_ gta_", r"[a-z2-7]{48,60}(?![a-z0-9])"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    ("pypi-token", "pypi-", r"[\w-]{50,400}"),
    ("rubygems-token", "rubygems_", r"[a-f0-9]{48}"),
    ("crates-token", "cio", r"[A-Za-z0-9]{32}(?![\w-])"),
    ("docker-token", "dckr_pat_ dckr_oat_", r"[\w-]{24,80}"),
    ("nuget-key", "oy2", r"[a-z0-9]{43}(?![\w-])"),
    # Chat and mail
    ("slack-token", "xoxb- xoxp- xoxa- xoxo- xoxs- xoxr- xoxc- xoxd- xoxe-", r"[\w%/+-]{10,400}"),
    ("slack-token", "xoxe.xoxb- xoxe.xoxp- xapp-", r"[\w-]{10,400}"),
    (
        "slack-webhook",
        "hooks.slack.com/",
        r"(?:services|workflows|triggers)/\w{1,32}/\w{1,32}/[\w/]{16,120}",
    ),
    ("discord-webhook", "discord.com/api/ discordapp.com/api/", r"webhooks/\d{17,20}/[\w-]{60,80}"),
    (
        "discord-webhook",
        "discord.com/api/v10/ discord.com/api/v9/",
        r"webhooks/\d{17,20}/[\w-]{60}",
    ),
    ("discord-token", "mfa.", r"[\w-]{80,95}"),
    ("teams-webhook", ".webhook.office.com/webhookb2/", r"[\w@-]{36,80}/IncomingWebhook/\w{32}"),
    ("sendgrid-key", "SG.", r"[\w-]{16,32}\.[\w-]{32,64}"),
    ("brevo-key", "xkeysib- xsmtpsib-", r"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    ("mailgun-key", "key-", r"[a-f0-9]{32}(?![\w-])"),
    ("pushover-token", "api.pushover.net/1/messages.json?token=", r"[a-z0-9]{30}"),
    # Payment and telephony
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{10,250}"),
    ("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{24,80}"),
    ("twilio-key", "SK", r"[a-f0-9]{32}(?![A-Za-z0-9])"),
    ("square-token", "sq0atp- sq0csp-", r"[\w-]{22,50}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[a-fA-F0-9]{32}"),
    # Model providers
    ("anthropic-key", "sk-ant-", r"[\w-]{20,255}"),
    ("openrouter-key", "sk-or-", r"[\w-]{32,100}"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[\w-]{20,255}"),
    ("langfuse-key", "sk-lf-", r"[a-f0-9-]{36}"),
    ("hugging-face-token", "hf_ api_org_", r"[A-Za-z0-9]{30,60}(?!\w)"),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{40,80}"),
    ("xai-key", "xai-", r"[A-Za-z0-9]{60,100}"),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,80}"),
    ("replicate-token", "r8_", r"[A-Za-z0-9]{37}(?!\w)"),
    ("cerebras-key", "csk-", r"[a-z0-9]{40,60}(?!\w)"),
    ("together-key", "tgp_v1_", r"[\w-]{40,60}"),
    ("fireworks-key", "fw_", r"[A-Za-z0-9]{22,32}(?!\w)"),
    ("nvidia-key", "nvapi-", r"[\w-]{50,100}"),
    ("jina-key", "jina_", r"[A-Za-z0-9]{50,80}"),
    ("voyage-key", "pa-", r"[\w-]{43}(?![\w-])"),
    ("tavily-key", "tvly-", r"[\w-]{24,64}"),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[a-f0-9]{32}_[a-f0-9]{10}"),
    ("elevenlabs-key", "sk_", r"[a-f0-9]{48}(?![a-f0-9])"),
    # Tools and services
    ("grafana-token", "glsa_ glc_", r"[\w+/=]{32,200}"),
    ("new-relic-key", "NRAK- NRJS- NRII-", r"[\w-]{19,48}"),
    ("sentry-token", "sntrys_ sntryu_", r"[\w+/=-]{60,400}"),
    ("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,64}"),
    ("notion-token", "ntn_ secret_", r"[A-Za-z0-9]{43,50}(?!\w)"),
    ("figma-token", "figd_ figu_", r"[\w-]{40,60}"),
    ("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("atlassian-token", "ATATT3 ATCTT3 ATBB", r"[\w=-]{24,250}"),
    ("postman-key", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
    ("home-assistant-webhook", "/api/webhook/", r"[A-Za-z0-9_-]{22,64}(?![\w-])"),
    ("ai-memory-token", "aim_", r"[\w-]{43}(?![\w-])"),
    # What a person keeps
    ("age-key", "AGE-SECRET-KEY- AGE-PLUGIN-", r"[A-Z0-9-]{32,200}"),
    ("nostr-key", "nsec1", r"[a-z0-9]{58}"),
    ("wallet-key", "xprv tprv zprv", r"[A-Za-z0-9]{107}"),
)
_LONGER_THAN_WORDS_CHARACTERS: Final = 32
_DIGIT: Final = re.compile(r"\d")


def _documented(found: re.Match[str]) -> bool:
    return not is_filler(found[0])


def _bare_key(found: re.Match[str]) -> bool:
    mixed = len(found[1]) >= _LONGER_THAN_WORDS_CHARACTERS or _DIGIT.search(found[1]) is not None
    return mixed and not is_filler(found[0])


def _shape(name: str, beginnings: str, rest: str) -> Rule:
    anchors = tuple(beginnings.split())
    begins = "|".join(map(re.escape, anchors))
    # Those that begin with a mark go on from a word.
    alone = "" if anchors[0][0] in "./" else "(?<![A-Za-z0-9])"
    pattern = re.compile(f"{alone}(?:{begins}){rest}", re.ASCII)
    return Rule(name=name, anchors=anchors, pattern=pattern, accept=_documented)


_IN_THE_MIDDLE: Final = (
    # These are known by what stands inside of them.
    Rule(
        name="openai-key",
        anchors=("T3BlbkFJ",),
        pattern=re.compile(r"(?<=[\w-]{16})T3BlbkFJ[\w-]{16,100}", re.ASCII),
    ),
    Rule(
        name="telegram-bot-token",
        anchors=(":AA",),
        pattern=re.compile(r"(?<=\d{8}):AA[\w-]{32,36}(?![\w-])", re.ASCII),
        accept=_documented,
    ),
    Rule(
        name="azure-client-secret",
        anchors=("Q~",),
        pattern=re.compile(r"(?<=[\w.~-]{3}\d)Q~[\w.~-]{31,34}", re.ASCII),
    ),
    Rule(
        name="azure-devops-token",
        anchors=("AZDO",),
        pattern=re.compile(r"(?<=[A-Za-z0-9]{40})AZDO[A-Za-z0-9]{4}"),
    ),
    Rule(
        name="azure-key",
        anchors=("JQQJ99",),
        pattern=re.compile(r"(?<=[A-Za-z0-9]{40})JQQJ99[A-Za-z0-9]{20,40}"),
    ),
    Rule(
        name="azure-sas",
        anchors=("sig=",),
        pattern=re.compile(r"(?<=[?&;])sig=[A-Za-z0-9%/+]{40,80}(?:%3d|=)", re.IGNORECASE),
        caseless=True,
    ),
    Rule(
        name="terraform-token",
        anchors=(".atlasv1.",),
        pattern=re.compile(r"(?<=[A-Za-z0-9]{14})\.atlasv1\.[\w=-]{60,70}", re.ASCII),
    ),
    Rule(
        name="mailchimp-key",
        anchors=("-us",),
        pattern=re.compile(r"(?<=[a-f0-9]{32})-us\d{1,2}(?!\w)"),
    ),
    Rule(
        name="discord-token",
        anchors=("M", "N", "O"),
        pattern=re.compile(
            r"(?<![\w.-])[MNO][A-Za-z0-9_-]{22,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])", re.ASCII
        ),
        accept=_documented,
    ),
    Rule(
        name="model-provider-key",
        anchors=("sk-",),
        pattern=re.compile(r"(?<![A-Za-z0-9])sk-([A-Za-z0-9]{20,100})(?![A-Za-z0-9])"),
        accept=_bare_key,
    ),
)

VENDOR_RULES: Final = (*(_shape(*shape) for shape in _SHAPES), *_IN_THE_MIDDLE)
