import pytest
from .home import Home
pytestmark = pytest.mark.e2e
def test_a(home: Home) -> None:
    print(home.call("add_memory", text="hello peanut"))
    print(home.state("sensor.ai_memory"))
    print(home.refusal("add_memory", text=""))
    print(home.refusal_over_websocket("add_memory", text=""))
    print(home.refusal_over_websocket("add_memory"), home.refusal("add_memory"))
    with home.events("ai_memory_updated") as e:
        home.call("add_memory", text="hello banana")
        home.wait_for(lambda: e)
    print(e)
    print(home.mcp("tools/list"))
    print(home.call_tool("search_memory", query="banana"))
    print(home.call_tool("search_memory", query=""))
    print(home.call_tool("search_memory"))
    print(home.state("event.ai_memory_changes"))
    print(home.log())
