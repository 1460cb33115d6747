"""What a new memory is like: named to who tells it, or known to be what another has become."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from custom_components.ai_memory.core import (
    AddResult,
    Caller,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Scope,
    Status,
)
from custom_components.ai_memory.core.plain_change import changes_a_code
from tests.conftest import SteppingClock

SERVICE = Caller(source="service")
BEN = Caller(source="assist", agent="conversation.home", provider="ollama", user="ben")
PLACE = {"wing": "personal", "room": "secrets"}
OLD, NEW = "The garage code is 1234", "The garage code is 5678"


async def _add(
    memory: MemoryManager, content: str, caller: Caller = SERVICE, **more: Any
) -> AddResult:
    return await memory.add(
        caller, NewMemory(content=content, **({"scope": Scope.COMMON} | PLACE | more))
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OLD, NEW),
        ("The PIN of the family tablet is 5830.", "the PIN of the family tablet is 9142"),
        ("Wi-Fi password: otters7", "Wi-Fi password: otters8"),
        ("Der Garagencode ist 1234", "Der Garagencode ist 5678"),
        ("Das WLAN-Passwort lautet Hund1234", "Das WLAN-Passwort lautet Katze99!"),
        ("Le code du portail est 6182", "Le code du portail est 6183."),
        ("Le mot de passe du wifi : Abc12345", "Le mot de passe du wifi : Xyz12345"),
        ("El código del garaje es 1234", "El código del garaje es 4321"),
        ("Il codice del cancello è 9412", "Il codice del cancello è 1111"),
        ("De code van de schuur is 4025", "De code van de schuur is 4026"),
        ("Kod do bramy: 4025", "Kod do bramy: 4099"),
        ("Hasło do wifi brzmi las2020", "Hasło do wifi brzmi las2021"),
        ("A senha do wi-fi da praia é coqueiro1978", "A senha do wi-fi da praia é coqueiro1979"),
        ("车库的密码是1234", "车库的密码是5678。"),
        ("ガレージの暗証番号は1234です。", "ガレージの暗証番号は5678です"),
    ],
)
def test_a_new_value_of_a_code_is_recognised_in_every_language(old: str, new: str) -> None:
    assert changes_a_code(old, new, speaker_known=False)
    assert changes_a_code(new, old, speaker_known=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The alarm code is 1111", "The alarm code is now 2222"),
        ("The garage door code is 1234", "The garage door code is now 5678"),
        ("The safe code is 1111", "The new safe code is 2222"),
        ("The new safe code is 1111", "The new safe code is 2222"),
        ("The bike code is 1111", "The bike code is 2222 now"),
        ("The boat code is 1111", "The boat code has changed to 2222"),
        ("The boat code has changed to 1111", "From now on the boat code is 2222."),
        ("The neighbour's code is 1111", "The neighbour's new code is 2222"),
        ("The code of the shed is 1111", "The new code of the shed is 2222"),
        ("The Wi-Fi password is otters7", "The new Wi-Fi password: otters8"),
        ("Der Code vom Gartentor ist 1111", "Der Code vom Gartentor ist jetzt 2222"),
        ("Der Garagencode ist 1234", "Der neue Garagencode ist 9999"),
        ("Der Garagencode ist 1234", "Ab jetzt ist der Garagencode 9999"),
        ("Der Garagencode lautet 1234", "Der Garagencode wurde auf 9999 geändert"),
        ("Das WLAN-Passwort ist Hund1", "Das neue WLAN-Passwort lautet ab sofort Hund2"),
        ("Le code du portail est 1357", "Le nouveau code du portail est 2468"),
        ("Le code du portail est 1357", "Désormais, le code du portail est 2468"),
        ("Le code du portail est 1357", "Le code du portail a été changé en 2468"),
        ("El código del garaje es 1111", "El nuevo código del garaje es ahora 2222"),
        ("El código del garaje es 1111", "El código nuevo del garaje es 2222"),
        ("El código del garaje es 1111", "El código del garaje ha cambiado a 2222"),
        ("Il codice del cancello è 1111", "Il nuovo codice del cancello è 2222"),
        ("Il codice del cancello è 1111", "Il codice del cancello adesso è 2222"),
        ("Il codice del cancello è 1111", "Il codice del cancello è cambiato in 2222"),
        ("De code van de schuur is 1111", "De nieuwe code van de schuur is 2222"),
        ("De code van de schuur is 1111", "Vanaf nu is de code van de schuur 2222"),
        ("De code van de schuur is 1111", "De code van de schuur is gewijzigd in 2222"),
        ("Kod do bramy to 1234", "Kod do bramy to 4321"),
        ("Kod do bramy to 1234", "Nowy kod do bramy to teraz 4321"),
        ("Kod do bramy: 1234", "Kod do bramy zmienił się na 4321"),
        ("O código do portão é 1111", "O novo código do portão é 2222"),
        ("O código do portão é 1111", "O código do portão agora é 2222"),
        ("A senha do wi-fi é mar1978", "A senha do wi-fi mudou para mar1979"),
        ("车库的密码是1111", "车库的新密码是2222"),
        ("车库的密码是1111", "车库的密码现在是2222。"),
        ("车库的密码是1111", "车库的密码改成了2222"),
        ("ガレージの暗証番号は1111です", "ガレージの新しい暗証番号は2222です。"),
        ("ガレージの暗証番号は1111です", "今後ガレージの暗証番号は2222です"),
        ("ガレージの暗証番号は1111です", "ガレージの暗証番号は2222に変わりました"),
    ],
)
def test_words_that_only_say_that_it_changed_make_no_difference(old: str, new: str) -> None:
    assert changes_a_code(old, new, speaker_known=False)
    assert changes_a_code(new, old, speaker_known=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # What is new is the thing, or may be.
        ("The neighbour's code is 1111", "The new neighbour's code is 2222"),
        ("The car code is 1111", "The new car code is 2222"),
        ("The house code is 1111", "The new house code is 2222"),
        ("The code of the garage is 1111", "The code of the new garage is 2222"),
        ("Der Code der Garage ist 1111", "Der Code der neuen Garage ist 2222"),
        ("Le code du portail est 1111", "Le code du nouveau portail est 2222"),
        ("El código de la puerta es 1111", "El código de la puerta nueva es 2222"),
        ("Il codice della casa è 1111", "Il codice della casa nuova è 2222"),
        ("De code van de schuur is 1111", "De code van de nieuwe schuur is 2222"),
        ("Kod do bramy to 1111", "Kod do nowej bramy to 2222"),
        ("O código do portão é 1111", "O código do portão novo é 2222"),
        ("车库的密码是1111", "新车库的密码是2222"),
        ("ガレージの暗証番号は1111です", "新しいガレージの暗証番号は2222です"),
        # It is another one's, or another one.
        ("The guest code is 1111", "The owner code is now 2222"),
        ("The Wi-Fi password is otters7", "The new guest Wi-Fi password is otters8"),
        ("The alarm code is 1111", "The guest's alarm code is now 2222"),
        ("The front door code is 1111", "The new back door code is 2222"),
        ("The front door code is 1111", "The door code is now 2222"),
        ("Der Code der Haustür ist 1111", "Der neue Code der Hintertür ist 2222"),
        ("前门的密码是1111", "后门的密码现在是2222"),
        # It is told what it was.
        ("The alarm code is 1111", "The old alarm code is 2222"),
        ("The alarm code is 1111", "The previous alarm code is 2222"),
        ("The previous alarm code is 1111", "The previous alarm code is 2222"),
        ("Der Garagencode ist 1111", "Der alte Garagencode ist 2222"),
        ("Der vorige Garagencode ist 1111", "Der vorige Garagencode ist 2222"),
        ("Le code du portail est 1111", "L'ancien code du portail est 2222"),
        ("车库的密码是1111", "车库以前的密码是2222"),
        ("The alarm code is 1111", "The alarm code was 2222 until now"),
        # It is so for a while, or only perhaps.
        ("The alarm code is 1111", "The alarm code is 2222 for now"),
        ("The alarm code is 1111", "The alarm code is currently 2222"),
        ("The alarm code is 1111", "The alarm code has not changed to 2222"),
        ("The alarm code is 1111", "The alarm code may have changed to 2222"),
        ("The alarm code may have changed to 1111", "The alarm code may have changed to 2222"),
        ("Set the PIN of the tablet to 1111", "Set the PIN of the tablet to 2222"),
        ("The alarm code is 1111", "Change the alarm code to 2222"),
        ("Set the gate code to 1111", "Set the gate code to 2222"),
        # There may be several.
        ("A gate code is 1111", "A new gate code is 2222"),
        ("The new garage code is 1111", "The new garage code is now 2222"),
        ("The error code is now E21", "The error code has changed to E18"),
        ("The code is 1111", "The code is now 2222"),
        ("The code is 1111", "The new code is 2222"),
        ("密码是1111", "新密码是2222"),
        ("The alarm code is 1111", "The alarm code is now 1111"),
    ],
)
def test_a_word_for_a_change_that_tells_more_makes_another_subject(old: str, new: str) -> None:
    assert not changes_a_code(old, new, speaker_known=True)
    assert not changes_a_code(new, old, speaker_known=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The boat code is 1111", "The new boat code is 2222"),
        ("The neighbour's code is 1111", "The new neighbour's code is 2222"),
        ("The alarm code is 1111", "The alarm code is 2222 for now"),
        ("The bike code is 1111", "The new bike code is now 2222"),
        ("Der Code vom Keller ist 11", "Der Code vom Keller ist jetzt 22"),
        ("Le code du portail est 1111", "Le code du nouveau portail est 2222"),
        ("El código del garaje es 1111", "Ahora el garaje tiene el código nuevo 2222"),
        ("Il codice del cancello è 1111", "Adesso il cancello ha il nuovo codice 2222"),
        ("De code van de schuur is 1111", "De schuur heeft nu de nieuwe code 2222"),
        ("Kod do bramy to 1111", "Kod do nowej bramy to teraz 2222"),
        ("O código do portão é 1111", "Agora o portão tem o novo código 2222"),
        ("车库的密码是1111", "新车库的密码是2222"),
        ("ガレージの暗証番号は1111です", "新しいガレージの暗証番号は2222です"),
    ],
)
async def test_a_change_that_is_not_certain_is_named_among_other_codes(
    memory: MemoryManager, old: str, new: str
) -> None:
    first = (await _add(memory, old)).memory
    for content in (
        "The loft code is 7001",
        "Der Code der Werkstatt ist 7002",
        "Le code de la cave est 7003",
        "Il codice della cantina è 7004",
        "Kod do piwnicy: 7005",
    ):
        await _add(memory, content)
    result = await _add(memory, new)
    assert (result.superseded, result.similar) == (None, first)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # It is not told what the code opens, or it opens something else.
        ("The code is 1234", "The code is 5678"),
        ("密码是1234", "密码是5678"),
        ("PIN-Code: 1234", "PIN-Code: 5678"),
        (OLD, "The shed code is 5678"),
        # There may be several.
        ("Another garage code is 1234", "Another garage code is 5678"),
        ("A garage code is 1234", "A garage code is 5678"),
        ("The washer's error code is E21", "The washer's error code is E18"),
        ("Der Fehlercode der Spülmaschine ist E21", "Der Fehlercode der Spülmaschine ist E18"),
        ("The shop's discount code is SAVE10", "The shop's discount code is SAVE20"),
        ("The new garage code is 1234", "The new garage code is 5678"),
        ("His locker code is 1234", "His locker code is 5678"),
        # It is not so.
        ("The garage code is not 1234", "The garage code is not 5678"),
        ("El código del garaje no es 1234", "El código del garaje no es 5678"),
        ("车库的密码不是1234", "车库的密码不是5678"),
        # More than the value differs, or nothing but a sign.
        ("The garage code is 1234 on weekdays", "The garage code is 5678 on weekends"),
        ("The garage code was 1234", "The garage code is 5678"),
        ("The garage door code is 1234", "The garage code is 5678"),
        (OLD, f"{OLD}!"),
        (OLD, OLD),
        # A number, a time, a place and a name may have more than one value.
        ("Forgotten thing number 1", "Forgotten thing number 2"),
        ("The meter stands at 100", "The meter stands at 200"),
        ("The meter reading is 1284", "The meter reading is 1310"),
        ("Blood sugar: 105", "Blood sugar: 98"),
        ("The bus leaves at 8:15", "The bus leaves at 9:15"),
        ("The dentist is on 2026-05-03", "The dentist is on 2026-06-07"),
        ("The robot vacuum is called Dusty", "The robot vacuum is called Lotte"),
        ("The bins go out on Monday", "The bins go out on Friday"),
        (f"{OLD} " + "x" * 200, f"{NEW} " + "x" * 200),
        ("", ""),
        ("is 1234", "is 5678"),
    ],
)
def test_nothing_else_is_taken_for_a_new_value(old: str, new: str) -> None:
    assert not changes_a_code(old, new, speaker_known=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My locker code is 1234", "My locker code is 5678"),
        ("The user's locker code is 1234", "The user's locker code is 5678"),
        ("Mein Schrankcode ist 1234", "Mein Schrankcode ist 5678"),
        ("我的柜子密码是1234", "我的柜子密码是5678"),
    ],
)
def test_whose_code_it_is_depends_on_who_speaks(old: str, new: str) -> None:
    assert changes_a_code(old, new, speaker_known=True)
    assert not changes_a_code(old, new, speaker_known=False)


@pytest.mark.parametrize(
    "text",
    [
        "x " * 60,
        "is " * 40,
        ": " * 60,
        "是" * 120,
        "1 is 1" * 20,
        "now " * 30,
        "现在" * 60,
        "改" * 120,
    ],
)
def test_no_text_takes_long_to_read(text: str) -> None:
    assert not changes_a_code(text, text, speaker_known=False)


async def test_a_new_code_replaces_the_old_one_that_is_kept_as_history(
    memory: MemoryManager,
) -> None:
    old = (await _add(memory, OLD, layer=1, pinned=True)).memory
    result = await _add(memory, NEW)
    assert result.superseded is not None
    assert (result.superseded.id, result.similar) == (old.id, None)
    assert (result.memory.layer, result.memory.pinned) == (1, True)
    retired = await memory.get(SERVICE, old.id)
    assert (retired.status, retired.superseded_by) == (Status.SUPERSEDED, result.memory.id)
    assert memory.counts().total == 1
    said = await memory.lifecycle.history(SERVICE, result.memory.id, 5)
    assert [version.content for version in said] == [NEW, OLD]


@pytest.mark.parametrize(
    "more",
    [
        {"room": "devices"},
        {"wing": "household"},
        {"type": "observation"},
        {"status": Status.CANDIDATE},
        {"confidence": 0.9},
        {"expires": SteppingClock().now + timedelta(days=3)},
    ],
)
async def test_what_may_stand_beside_the_old_one_never_replaces_it(
    memory: MemoryManager, more: dict[str, Any]
) -> None:
    old = (await _add(memory, OLD)).memory
    result = await _add(memory, NEW, **more)
    assert (result.superseded, result.refreshed) == (None, False)
    assert (await memory.get(SERVICE, old.id)).status is Status.ACTIVE
    named = None if "room" in more or "wing" in more else old.id
    assert (result.similar.id if result.similar else None) == named


async def test_of_two_that_it_could_replace_none_is(memory: MemoryManager) -> None:
    first = (await _add(memory, OLD)).memory
    # A correction that makes two of one.
    other = (await _add(memory, "Nobody knows the garage combination")).memory
    await memory.update(SERVICE, other.id, MemoryChanges(content="The garage code is 4321"))
    result = await _add(memory, NEW)
    assert result.superseded is None
    assert result.similar is not None
    assert result.similar.id in {first.id, other.id}
    assert memory.counts().total == 3


async def test_a_private_code_is_its_owners_alone(memory: MemoryManager, anna: Caller) -> None:
    mine, theirs = "My locker code is 1234", "My locker code is 5678"
    old = (await _add(memory, mine, anna, scope=Scope.PRIVATE)).memory
    for caller, scope in ((BEN, Scope.PRIVATE), (SERVICE, Scope.COMMON)):
        result = await _add(memory, theirs, caller, scope=scope)
        assert (result.superseded, result.similar) == (None, None)
    assert (await memory.get(anna, old.id)).status is Status.ACTIVE
    # Of what everybody may know, hers is told apart, too.
    named = await _add(memory, "My locker code is 9999", anna)
    assert named.superseded is None
    replaced = await _add(memory, "My locker code is 8888", anna, scope=Scope.PRIVATE)
    assert replaced.superseded is not None
    assert replaced.superseded.id == old.id


async def test_how_rare_a_word_is_is_counted_among_what_is_seen(
    memory: MemoryManager, anna: Caller
) -> None:
    text = "The winter tyres hang in the garage {}"
    for number in range(6):
        await _add(memory, text.format(f"on nail {number}"), anna, scope=Scope.PRIVATE)
    told = (await _add(memory, text.format("behind the mower"))).memory
    # Six more hidden ones would have made the words common ones.
    result = await _add(memory, text.format("beside the ladder"), BEN)
    assert result.similar is not None
    assert result.similar.id == told.id


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The Wi-Fi router stands in the hallway cupboard.", "The Wi-Fi router is in the study."),
        ("Zoe's cello lesson is on Mondays.", "Zoe's cello lesson has moved to Thursdays at six."),
        ("Der Mähroboter heißt Schorsch.", "Der Mähroboter heißt jetzt Lotte."),
        ("剣道の県大会は10月4日です。", "剣道の県大会は10月12日に延期されました。"),
    ],
)
async def test_what_is_much_alike_is_named(memory: MemoryManager, old: str, new: str) -> None:
    await _add(memory, "The ladder is in the shed.")
    first = (await _add(memory, old)).memory
    result = await _add(memory, new)
    assert result.superseded is None
    assert result.similar == first
    assert memory.counts().total == 3


async def test_what_is_not_alike_is_not_named(memory: MemoryManager) -> None:
    await _add(memory, "The ladder is in the shed.")
    for content in ("The boiler was serviced in March.", "Mia likes the garden.", "42", "🎉"):
        assert (await _add(memory, content)).similar is None


async def test_what_had_to_make_room_is_not_named(memory: MemoryManager) -> None:
    memory._max_entries = 1
    await _add(memory, "The cello lesson of Zoe is on Mondays.")
    result = await _add(memory, "The cello lesson of Zoe is on Thursdays.")
    assert (result.evicted_count, result.similar) == (1, None)


async def test_a_replaced_or_forgotten_memory_is_not_named(memory: MemoryManager) -> None:
    told = (await _add(memory, "The cello lesson of Zoe is on Mondays.")).memory
    await memory.lifecycle.forget(SERVICE, told.id)
    assert (await _add(memory, "The cello lesson of Zoe is on Fridays.")).similar is None


async def test_of_two_new_codes_told_at_once_the_last_one_holds(memory: MemoryManager) -> None:
    await _add(memory, OLD)
    results = await asyncio.gather(
        *(_add(memory, f"The garage code is {value}") for value in (2222, 3333, 4444))
    )
    assert all(result.superseded is not None for result in results)
    assert memory.counts().total == 1
    said = await memory.lifecycle.history(SERVICE, results[0].memory.id, 9)
    assert len(said) == 4
    assert sum(version.until is None for version in said) == 1


async def test_a_refreshed_memory_names_nothing(memory: MemoryManager) -> None:
    await _add(memory, "The cello lesson of Zoe is on Mondays.")
    again = await _add(memory, "the cello lesson of Zoe is on Mondays")
    assert (again.refreshed, again.similar) == (True, None)
