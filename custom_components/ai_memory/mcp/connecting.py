"""How each coding agent is told where the memory is: one ready command or setting a client.

The flow shows them with a fresh token, the documentation with a placeholder. Where a client can
read the token from its environment, it does: a header in a file ends up in backups.
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


def instructions(url: str, token: str) -> tuple[Instruction, ...]:
    """Return the instructions for every client that is known."""
    bearer = f"Authorization: Bearer {token}"
    header = {"Authorization": f"Bearer {token}"}
    export = f"export {TOKEN_VARIABLE}='{token}'"
    by_environment = {"Authorization": f"Bearer ${{env:{TOKEN_VARIABLE}}}"}
    return (
        Instruction(
            "Claude Code",
            "",
            "sh",
            f"claude mcp add --scope user --transport http {SERVER_NAME} {url} --header '{bearer}'",
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


def as_markdown(url: str, token: str) -> str:
    """Return the instructions as a person reads them in a form."""
    return "\n\n".join(
        f"**{one.client}**{f' ({one.place})' if one.place else ''}\n"
        f"```{one.language}\n{one.text}\n```"
        for one in instructions(url, token)
    )


def _json(value: object) -> str:
    return json.dumps(value, indent=2)
