"""The words that carry no meaning in a question to a home memory, for twelve languages.

Data only. Word search (``fulltext``) drops them from queries unless nothing else is left. Nothing
is ever dropped from what is stored.

The words are folded as ``text_folding.fold`` does. The sets are one for all languages, because a
question is often mixed and rarely labelled; so a word is left out

- when a household may well mean it, in any of the languages: ``den``, ``bin``, ``van``, ``hat``,
  ``hay``, ``hoe``, ``dove`` (soap, and Italian for *where*), ``co`` (a gas, and Polish for *what*),
  ``nas``, ``ai``, ``once`` (Spanish for eleven), ``les`` (Dutch for a lesson), ``was`` (Dutch for
  laundry), ``mes`` (a month, a knife), ``aus`` (off), or the name of a person: ``will``, ``dan``,
  ``ella``, ``mia``, ``maja``;
- when it denies: ``not``, ``kein``, ``sin``, ``senza``, ``bez``, and ``no``, ``ne``, ``ni``.
"""

from typing import Final

_ENGLISH: Final = """
    a an the this that these those i you he she it we they me him her us them my your his its our
    their is are were be been am do does did has have had having can could would shall should might
    must of in on at to for from by with about into what which who whom whose where when why how
    please tell know remember and so if than as there here any some ive whats wheres s ll ve re much
    many everything anything something happen happens happened
"""

_GERMAN: Final = """
    der die das dem des fur ein eine einen einem einer eines ich du er sie es wir ihr mich dich mir
    dir uns euch ihm ihn ihnen mein meine meinen meinem meiner dein deine deinen deinem deiner sein
    seine seinen seinem seiner unser unsere unseren unserem unserer ihre ihren ihrem ihrer ist sind
    seid habe haben hatte hatten wird werden wurde wurden kann kannst konnen konntest soll sollen
    darf muss mussen wer wo wie wann warum wieso welche welcher welches welchen wem wen wessen
    wieviel und oder in im am an auf zu zum zur von vom nach bei beim mit um als auch noch denn da
    dann dort hier bitte sag sage weisst wissen erinnere dass wenn ob hast gibt alles etwas viel
    viele passiert
"""

_FRENCH: Final = """
    le la un une des du de au aux ce cet cette ces mon ma ta tes sa ses notre nos votre vos leur
    leurs je tu il elle nous vous ils elles me te se lui y en qui que quoi quel quelle quels quelles
    ou comment pourquoi quand combien est es sont suis etait avait ont avons avez peux peut pouvez
    sais savez dis dites moi dans avec pour chez et donc qu j l tout beaucoup
"""

_SPANISH: Final = """
    el la los las un una unos unas de del al a en con por para que quien quienes cual cuales donde
    cuando como cuanto cuanta cuantos cuantas porque yo tu nosotros ellos ellas usted ustedes me te
    se le lo nos mi mis su sus nuestro nuestra nuestros nuestras es esta estan este estas estos esa
    ese eso esto ser estar ha han he tiene tienen tengo tener puede puedo puedes favor dime sabes
    recuerdas y todo mucho mucha muchos muchas sabemos
"""

_ITALIAN: Final = """
    il lo la i gli le un uno una di del dello della dei degli delle a al allo alla agli alle da dal
    dalla dai in nel nello nella nei nelle con su sul sulla per tra fra che chi cosa quando perche
    quale quali quanto quanta quanti quante io tu lui lei noi voi loro mi ti ci vi si e ha hai ho
    hanno abbiamo sono siamo era erano essere avere puo puoi posso favore dimmi sai ricordi mio tuo
    tua suo sua nostro nostra questo questa questi queste quello quella anche tutto molto molti
    molte sappiamo
"""

_DUTCH: Final = """
    de het een ik jij je u hij zij ze wij we jullie hun mij me jou jouw mijn zijn ons onze dit dat
    deze is bent heeft heb hebben had hadden kan kun kunt kunnen moet moeten zal zullen zou wordt
    worden wie wat alles veel waar wanneer waarom welk welke hoeveel in op aan bij met voor naar
    over om te en als alstublieft alsjeblieft vertel weet weten er daar hier ook nog t
"""

_POLISH: Final = """
    w we z ze na do od o u po za przy dla przez i oraz lub a to ta te tego tej tym tych ktory ktora
    ktore kto czego czemu gdzie kiedy jak jaki jaka jakie jakiego jakiej ile dlaczego czy czyj czyja
    ja ty on ona ono oni mnie mi ciebie ci jego jej ich nam nami sie siebie moj moja moje mojej
    mojego twoj twoja twoje nasz nasza nasze naszej naszego jest sa był byl była byla było bylo były
    byly byc bedzie wszystko duzo wiemy ma masz moze mozesz mozna prosze powiedz wiesz pamietasz
    jestem
"""

_PORTUGUESE: Final = """
    o a os as um uma uns umas de do da das em na ao aos pelo pela por para com e ou que quem qual
    quais onde quando como quanto quanta quantos quantas porque eu tu voce voces ele eles elas me te
    se lhe meu minha meus minhas seu sua seus suas nosso nossa nossos nossas este esta esse essa
    isso isto aquele aquela sao estao foi ser estar tem tenho ter ha pode posso favor diga sabe
    lembra tudo muito muita muitos muitas sabemos
"""

_RUSSIAN: Final = """
    и а но или же ли бы в во на с со к ко у о об от до из за по под над при для про без это этот эта
    эти этого этои тот та те там тут здесь что чего чему чем кто кого кому кем где куда откуда когда
    как какои какая какое какие какого какую каким сколько почему зачем которыи которая которое
    которые я ты он она оно мы вы они меня тебя его ее еи ему нас вас их нам вам им мне тебе мои моя
    мое моего моеи твои твоя твое наш наша наше наши нашего нашеи ваш ваша ваше ваши свои своя свое
    быть был была было были есть будет можно нужно надо скажи знаешь знаем помнишь пожалуиста все
    много случилось
"""

_TURKISH: Final = """
    bir bu o ve ile icin de da mi mı mu ki ya neden nicin nasil nasıl nerede nereye nereden kime
    kimin hangi hangisi kac zaman sen biz siz onlar beni seni bizi sizi bana sana ona bize benim
    senin onun bizim sizin var olan oldu gibi kadar daha lutfen soyle biliyor musun her sey cok
"""

_CHINESE: Final = """
    的 了 吗 呢 啊 么 哪 谁 是 在 我 你 您 她 它 这 那 什么 怎样 多少 为什 几个 请问 请告 告诉 知道
    记得 可以
"""

_JAPANESE: Final = """
    は が を に の です ます すか でし まし まで より どこ どれ いつ だれ 誰 なに 何 なぜ 教え ださ
    あれ それ これ ある いる
"""


FUNCTION_WORDS: Final = frozenset(
    f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH} {_ITALIAN} {_DUTCH} {_POLISH} {_PORTUGUESE}"
    f" {_RUSSIAN} {_TURKISH}".split()
)

# Chinese and Japanese have no spaces to tell words by, so search asks for pairs of characters and
# passes over the pairs that hold one of these; longer ones would never be found in a pair. Single
# characters are only particles that rarely are part of a noun: not 会, as in 聚会 (a party), nor
# か, as in かぎ (a key).
FUNCTION_SUBSTRINGS: Final = frozenset(f"{_CHINESE} {_JAPANESE}".split())
