"""How each coding agent is told where the memory is: one ready command or setting a client.

The flow shows them with a fresh token, the documentation with a placeholder. What works at once
comes first: a command holds the token itself, and the client keeps it in the folder of its user.
Codex and Cursor are told to read it from the environment, VS Code asks for it. What a person has to
know beside the command is in the translated texts of the flow, below the placeholder of the client.
"""

from dataclasses import dataclass
import json
from typing import Final

SERVER_NAME: Final = "ai-memory"
TOKEN_VARIABLE: Final = "AI_MEMORY_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True)
class Instruction:
    """What a person does in one client: where, and what to paste."""

    client: str
    place: str
    language: str
    text: str

    @property
    def key(self) -> str:
        """The placeholder of the flow's texts that this stands in."""
        return self.client.lower().replace(" ", "_")


def instructions(url: str, token: str, *, again: bool = False) -> tuple[Instruction, ...]:
    """Return the instructions for every client; ``again`` for those that have a token already."""
    add_to_claude = f"claude mcp add --scope user --transport http {SERVER_NAME} {url}"
    # Claude Code alone refuses to add what it knows; the others overwrite it.
    before = f"claude mcp remove --scope user {SERVER_NAME}\n" if again else ""
    bearer = f"Authorization: Bearer {token}"
    header = {"Authorization": f"Bearer {token}"}
    export = f"export {TOKEN_VARIABLE}='{token}'"
    by_environment = {"Authorization": f"Bearer ${{env:{TOKEN_VARIABLE}}}"}
    return (
        Instruction(
            "Claude Code",
            "",
            "sh",
            f"{before}{add_to_claude} --header '{bearer}'",
        ),
        Instruction(
            "Codex",
            "",
            "sh",
            f"{export}\n"
            f"codex mcp add {SERVER_NAME} --url {url} --bearer-token-env-var {TOKEN_VARIABLE}",
        ),
        Instruction(
            "OpenCode",
            "~/.config/opencode/opencode.json",
            "json",
            _json(
                {
                    "mcp": {
                        SERVER_NAME: {
                            "type": "remote",
                            "url": url,
                            "enabled": True,
                            "oauth": False,
                            "headers": header,
                        }
                    }
                }
            ),
        ),
        Instruction(
            "Cursor",
            "~/.cursor/mcp.json",
            "json",
            _json({"mcpServers": {SERVER_NAME: {"url": url, "headers": by_environment}}}),
        ),
        Instruction(
            "VS Code",
            ".vscode/mcp.json",
            "json",
            _json(
                {
                    "inputs": [
                        {
                            "type": "promptString",
                            "id": "ai_memory_token",
                            "description": "AI Memory",
                            "password": True,
                        }
                    ],
                    "servers": {
                        SERVER_NAME: {
                            "type": "http",
                            "url": url,
                            "headers": {"Authorization": "Bearer ${input:ai_memory_token}"},
                        }
                    },
                }
            ),
        ),
        Instruction(
            "Gemini CLI",
            "",
            "sh",
            f"gemini mcp add --scope user --transport http --header '{bearer}' {SERVER_NAME} {url}",
        ),
    )


def as_markdown(one: Instruction) -> str:
    """Return an instruction as a person reads it in a form."""
    place = f" ({one.place})" if one.place else ""
    return f"**{one.client}**{place}\n```{one.language}\n{one.text}\n```"


def _json(value: object) -> str:
    return json.dumps(value, indent=2)
