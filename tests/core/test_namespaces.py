"""Namespaces from git remotes and from clients: one name a repository, and none that lies."""

from string import ascii_letters, digits
from typing import Final

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.ai_memory.core import InvalidInputError
from custom_components.ai_memory.core.namespaces import (
    NAMESPACE_LIMIT_CHARACTERS,
    PART_LIMIT_CHARACTERS,
    NamespaceRules,
    is_namespace,
    namespace_of_remote,
    normalised,
)

from .screen_cases import joined, some

RULES: Final = NamespaceRules(
    forge_hosts=(
        "git.lan",
        "https://forge.example.org:3000",
        "code.lan/gitea/",
        "Codeberg.org",
        "[fd00::2]:3000",
    )
)
OWNED: Final = NamespaceRules(github_owner="Anna", forge_owner="ben", forge_hosts=("git.lan",))


@pytest.mark.parametrize(
    ("remote", "expected"),
    [
        ("https://github.com/owner/repo.git", "github/owner/repo"),
        ("https://github.com/owner/repo", "github/owner/repo"),
        ("https://github.com/owner/repo/", "github/owner/repo"),
        ("https://github.com/owner/repo.git/", "github/owner/repo"),
        ("http://github.com/owner/repo", "github/owner/repo"),
        ("https://www.github.com/owner/repo", "github/owner/repo"),
        ("https://github.com:443/owner/repo.git", "github/owner/repo"),
        ("https://GitHub.com/Owner/Repo.GIT", "github/owner/repo"),
        ("HTTPS://GITHUB.COM/Owner/Repo", "github/owner/repo"),
        ("https://github.com./owner/repo", "github/owner/repo"),
        ("  https://github.com/owner/repo.git\n", "github/owner/repo"),
        ("git://github.com/owner/repo.git", "github/owner/repo"),
        ("git+https://github.com/owner/repo.git", "github/owner/repo"),
        ("ssh://git@github.com/owner/repo.git", "github/owner/repo"),
        ("ssh://git@ssh.github.com:443/owner/repo.git", "github/owner/repo"),
        ("git+ssh://git@github.com/owner/repo.git", "github/owner/repo"),
        ("ssh+git://git@github.com/owner/repo.git", "github/owner/repo"),
        ("ssh://github.com/owner/repo", "github/owner/repo"),
        ("git@github.com:owner/repo.git", "github/owner/repo"),
        ("git@github.com:/owner/repo.git", "github/owner/repo"),
        ("github.com:owner/repo", "github/owner/repo"),
        ("org-123@github.com:owner/repo.git", "github/owner/repo"),
        ("[git@ssh.github.com:443]:owner/repo.git", "github/owner/repo"),
        ("git@github.com:ai-memory-ha/ai-memory.git", "github/ai-memory-ha/ai-memory"),
        ("https://github.com/owner/repo.wiki.git", "github/owner/repo.wiki"),
        ("https://github.com/owner/.github", "github/owner/.github"),
        ("https://github.com/owner/_private_", "github/owner/_private_"),
        ("https://git.lan/owner/repo.git", "gitea/owner/repo"),
        ("https://git.lan:8443/owner/repo.git", "gitea/owner/repo"),
        ("ssh://gitea@git.lan:2222/Owner/Repo.git", "gitea/owner/repo"),
        ("forgejo@git.lan:owner/repo.git", "gitea/owner/repo"),
        ("http://forge.example.org:3000/owner/repo", "gitea/owner/repo"),
        ("git@forge.example.org:owner/repo", "gitea/owner/repo"),
        ("https://code.lan/gitea/owner/repo", "gitea/owner/repo"),
        ("git@code.lan:owner/repo", "gitea/owner/repo"),
        ("https://codeberg.org/owner/repo", "gitea/owner/repo"),
        ("http://[fd00::2]:3000/owner/repo", "gitea/owner/repo"),
    ],
)
def test_a_remote_has_one_namespace_however_it_is_written(remote: str, expected: str) -> None:
    assert namespace_of_remote(remote, RULES) == expected
    assert is_namespace(expected)


@pytest.mark.parametrize(
    "remote",
    [
        "https://user:pass@github.com/owner/repo.git",
        "https://user:@github.com/owner/repo.git",
        "https://:pass@github.com/owner/repo.git",
        joined("https://gh", "p_", some(36), "@github.com/owner/repo.git"),
        "https://user@github.com/owner/repo.git",
        "https://user:p@ss@git.lan/owner/repo.git",
        "https://x:y@unknown.lan/owner/repo.git",
        "ssh://git:pass@github.com/owner/repo.git",
        "git+https://user:pass@github.com/owner/repo",
        "user:pass@github.com:owner/repo.git",
        "https://github.com/owner/repo?access_token=abc",
        "https://github.com/owner/repo.git#token=abc",
    ],
)
def test_a_remote_that_holds_credentials_is_refused_as_such(remote: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        namespace_of_remote(remote, RULES)
    assert (refused.value.key, refused.value.placeholders) == ("credentials_in_url", {})


@pytest.mark.parametrize(
    "remote",
    [
        "",
        "repo",
        "owner/repo",
        "/home/anna/repo",
        "./repo",
        "../repo.git",
        "C:\\code\\repo",
        "C:/code/repo",
        "file:///home/anna/repo",
        "ftp://github.com/owner/repo",
        "https://github.com",
        "https://github.com/",
        "https://github.com/owner",
        "https://github.com/owner/",
        "https://github.com/owner//repo",
        "https://github.com//repo",
        "https://github.com/owner/repo/tree/main",
        "https://github.com/owner/.git",
        "https://github.com/owner/..",
        "https://github.com/../repo",
        "https://github.com/owner/.",
        "https://github.com/owner/re%2fpo",
        "https://github.com/owner/re po",
        "https://github.com/owner/repo?x=1",
        "https://github.com/owner/repo#readme",
        "https://github.com/owner/repo\x00",
        "https://github.com/own\ner/repo",
        "https://github.com/ownеr/repo",
        "https://ｇithub.com/owner/repo",
        "https://github.com:port/owner/repo",
        "https://github.com:99999/owner/repo",
        "https://[::1/owner/repo",
        "git@github.com:22/owner/repo.git",
        "git@github.com:",
        "https:///owner/repo",
        "https://github.com/" + "o" * 101 + "/repo",
        "https://github.com/owner/" + "r" * 3_000,
        "-oProxyCommand=x:owner/repo" * 2,
    ],
)
def test_what_is_no_remote_of_a_repository_is_refused(remote: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        namespace_of_remote(remote, RULES)
    assert refused.value.key in {"not_a_remote", "forge_unknown"}


@pytest.mark.parametrize(
    ("remote", "host"),
    [
        ("https://gitlab.com/owner/repo", "gitlab.com"),
        ("git@bitbucket.org:owner/repo.git", "bitbucket.org"),
        ("https://github.com.evil.lan/owner/repo", "github.com.evil.lan"),
        ("https://notgithub.com/owner/repo", "notgithub.com"),
        ("https://sub.git.lan/owner/repo", "sub.git.lan"),
    ],
)
def test_a_host_that_nobody_configured_is_named_in_the_refusal(remote: str, host: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        namespace_of_remote(remote, RULES)
    assert (refused.value.key, refused.value.placeholders) == ("forge_unknown", {"host": host})


def test_without_configured_forges_only_github_has_namespaces() -> None:
    assert namespace_of_remote("git@github.com:o/r") == "github/o/r"
    with pytest.raises(InvalidInputError, match="forge_unknown"):
        namespace_of_remote("https://git.lan/o/r")


@pytest.mark.parametrize(
    ("remote", "expected"),
    [
        ("https://github.com/anna/repo", "github/anna/repo"),
        ("git@github.com:ANNA/repo", "github/anna/repo"),
        ("https://git.lan/Ben/repo", "gitea/ben/repo"),
        ("https://github.com/ben/repo", None),
        ("https://git.lan/anna/repo", None),
        ("https://github.com/anna2/repo", None),
    ],
)
def test_owners_can_be_narrowed(remote: str, expected: str | None) -> None:
    if expected:
        assert namespace_of_remote(remote, OWNED) == expected
        return
    with pytest.raises(InvalidInputError, match="owner_refused"):
        namespace_of_remote(remote, OWNED)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("global", "global"),
        (" Global ", "global"),
        ("github/Owner/Repo", "github/owner/repo"),
        ("gitea/owner/repo", "gitea/owner/repo"),
        ("projects/Home-Lab", "projects/home-lab"),
        ("topics/zigbee", "topics/zigbee"),
        ("local/notes_2026", "local/notes_2026"),
        ("local/.dotfiles", "local/.dotfiles"),
    ],
)
def test_a_namespace_of_a_client_is_brought_into_one_form(name: str, expected: str) -> None:
    assert normalised(name) == expected
    assert is_namespace(expected)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "/",
        "household",
        "personal",
        "global/x",
        "github",
        "github/owner",
        "github/owner/repo/x",
        "github//repo",
        "github/owner/",
        "/github/owner/repo",
        "github/owner/repo/",
        "github/../repo",
        "github/owner/..",
        "github/owner/a..b",
        "github/owner/.",
        "github/owner/---",
        "github/owner/repo.git",
        "projects",
        "projects/",
        "projects/a/b",
        "projects/a b",
        "projects/a\tb",
        "projects/a\nb",
        "projects/a\x00",
        "projects/a\\b",
        "projects/küche",
        "projects/аpi",
        "projects/ｐｌａｎ",
        "projects/a\u200bb",
        "projects/a\u202eb",
        "projects/a%2fb",
        "projects/" + "a" * (PART_LIMIT_CHARACTERS + 1),
        "gitlab/owner/repo",
        "Kglobal",
        "topics/*",
        "topics/a;b",
        "topics/'a'",
    ],
)
def test_what_is_no_namespace_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="invalid_namespace"):
        normalised(name)
    assert not is_namespace(name)


def test_a_namespace_has_a_limit() -> None:
    half = "a" * ((NAMESPACE_LIMIT_CHARACTERS - len("github//")) // 2)
    assert normalised(f"github/{half}/{half}") == f"github/{half}/{half}"
    with pytest.raises(InvalidInputError) as refused:
        normalised(f"github/{half}/{half}a")
    assert refused.value.key == "too_long"
    assert refused.value.placeholders["length"] == str(NAMESPACE_LIMIT_CHARACTERS + 1)


def test_the_rules_hold_for_a_namespace_of_a_client_too() -> None:
    assert normalised("github/anna/repo", OWNED) == "github/anna/repo"
    assert normalised("topics/ben", OWNED) == "topics/ben"
    for name in ("github/ben/repo", "gitea/anna/repo"):
        with pytest.raises(InvalidInputError, match="owner_refused"):
            normalised(name, OWNED)


def test_only_the_stored_form_is_a_namespace() -> None:
    assert is_namespace("github/owner/repo")
    assert not is_namespace("GitHub/owner/repo")
    assert not is_namespace(" global")


_NAMES: Final = st.text(ascii_letters + digits + "-_", min_size=1, max_size=39).filter(
    lambda name: name.strip("-") != ""
)
_FORMS: Final = (
    "https://github.com/{}/{}",
    "https://github.com/{}/{}.git",
    "https://github.com:8443/{}/{}.git/",
    "http://GITHUB.com/{}/{}",
    "ssh://git@github.com/{}/{}.git",
    "ssh://git@github.com:22/{}/{}",
    "git@github.com:{}/{}.git",
    "git@github.com:/{}/{}",
    "git://github.com/{}/{}.git",
    "git+ssh://git@github.com/{}/{}.git",
)


@settings(max_examples=200, deadline=None, database=None)
@given(_NAMES, _NAMES)
def test_every_form_of_a_remote_has_the_same_namespace(owner: str, repository: str) -> None:
    found = {namespace_of_remote(form.format(owner, repository)) for form in _FORMS}
    assert found == {f"github/{owner}/{repository}".lower()}


@settings(max_examples=300, deadline=None, database=None)
@given(st.text(max_size=200) | st.text("gith/.:@\\%-_aA ", max_size=60))
def test_any_text_is_a_namespace_or_refused(text: str) -> None:
    for make in (normalised, namespace_of_remote):
        try:
            made = make(text)
        except InvalidInputError:
            continue
        assert is_namespace(made)
        assert normalised(made) == made
        assert len(made) <= NAMESPACE_LIMIT_CHARACTERS
        assert ".." not in made
        assert "" not in made.split("/")


@settings(max_examples=200, deadline=None, database=None)
@given(_NAMES, st.text(ascii_letters + digits, min_size=1), st.sampled_from(_FORMS[:4]))
def test_a_password_never_comes_through(user: str, password: str, form: str) -> None:
    remote = form.replace("://", f"://{user}:{password}@").format("owner", "repo")
    with pytest.raises(InvalidInputError) as refused:
        namespace_of_remote(remote)
    assert refused.value.key == "credentials_in_url"
