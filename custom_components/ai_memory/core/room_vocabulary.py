"""The words that betray the room of a memory, and what rooms and wings are called, by language.

Data only, for the ten languages of the integration; ``room_detection`` is its one reader.

Entries are separated by commas and written the way texts are compared: lower case, without accents
(``ł`` as ``l``, ``ß`` as ``ss``, ``œ`` as ``oe``), apostrophes and hyphens as spaces.

- ``oven`` is that word and no other.
- ``plumb*`` is every word that starts so, ``*lampe`` every longer word that ends so (German and
  Dutch glue their nouns together).
- ``blood pressure`` is the words in a row; the last may be a stem.
- ``#`` stands for a number, ``#:#`` for a time of day: ``# uhr``, ``at #``.
- Chinese and Japanese entries are found anywhere in the text.

The most specific entry takes the word: a phrase before the words it is made of, a word before
a stem, a longer stem before a shorter one. So an entry may correct another: ``filter*`` speaks of
maintenance, ``filterkaffee`` of taste.

Decisive entries count three times. An entry that languages share stands once, under the first of
them. Words that mean something else in another of the ten languages are left out, or spelled out as
phrases (German ``bin`` is no English dustbin).
"""

from types import MappingProxyType
from typing import Final, NamedTuple


class Keywords(NamedTuple):
    """The entries of one room in one language."""

    room: str
    language: str
    decisive: str
    telling: str

    def decisive_entries(self) -> tuple[str, ...]:
        """Return the entries that alone settle the room."""
        return _split(self.decisive)

    def telling_entries(self) -> tuple[str, ...]:
        """Return the entries that hint at the room."""
        return _split(self.telling)


def _split(entries: str) -> tuple[str, ...]:
    """Split at commas; line breaks in the tables below are only layout."""
    return tuple(" ".join(entry.split()) for entry in entries.split(",") if entry.strip())


# Devices are mentioned in memories of every kind, so none of them is decisive.
_DEVICES: Final = (
    Keywords(
        "devices",
        "en",
        decisive="",
        telling="""
            lamp*, light, lights, lightbulb*, bulb, bulbs, nightlight*, switch, switches,
            dimmer*, socket, sockets, plug, plugs, smart plug*, outlet*, heating, heater*,
            radiator*, boiler*, furnace, air conditioner*, air conditioning, fan, fans, router*,
            repeater*, modem*, wifi, wi fi, guest wifi, guest wi fi, guest network, tv, tvs,
            remote, remotes, remote control*, speaker*, soundbar*, camera*, webcam*, doorbell*,
            sensor*, temperature sensor*, smoke detector*, smoke alarm*, motion detector*,
            dishwasher*, washing machine*, washer*, dryer*, fridge*, refrigerator*, freezer*,
            oven, ovens, stove*, hob, cooker*, microwave*, toaster*, kettle*, coffee machine*,
            coffee maker*, espresso machine*, vacuum*, hoover*, lawnmower*, mower*, printer*,
            scanner, computer*, laptop*, tablet, iphone*, ipad*, smartphone*, blinds, shutters,
            curtains, garage door*, charger*, charging station*, wallbox*, solar panel*,
            inverter*, heat pump*, humidifier*, dehumidifier*, air purifier*, projector*,
            games console, game console, server, hub, gateway*, firmware, zigbee, zwave, z wave,
            bluetooth, appliance*, device*, gadget*, smart home, serial number*, model number*,
            alarm system, smart lock*, burglar alarm*, motion sensor*, thermometer*, doorlock*,
            extension lead*, power strip*, the nas, nas drive*, ip address*, mac address*,
            network drive*, mobile phone*, cell phone*
        """,
    ),
    Keywords(
        "devices",
        "de",
        decisive="",
        telling="""
            *lampe, *lampen, leuchte*, *leuchte, *leuchten, licht, lichter, nachtlicht*,
            deckenlicht*, flurlicht, gartenlicht, kuchenlicht, badlicht, *zimmerlicht, *lichter,
            lichtschalter*, gluhbirne*, schalter*, *schalter, steckdose*, *steckdose,
            *steckdosen, stecker*, *thermostat, *thermostate, heizung*, *heizung, heizkorper*,
            klimaanlage*, klimagerat*, ventilator*, fernseher*, fernsehgerat*, *fernseher,
            fernbedienung*, lautsprecher*, kamera*, *kamera, *kameras, klingel*, turklingel*,
            *sensor, *sensoren, temperatursensor*, rauchmelder*, *melder, spulmaschine*,
            geschirrspul*, waschmaschine*, trockner*, *trockner, kuhlschrank*, gefrierschrank*,
            gefriertruhe*, backofen*, herd, ofen, mikrowelle*, wasserkocher*, kaffeemaschine*,
            kaffeevollautomat*, staubsauger*, saugroboter*, wischroboter*, rasenmaher*,
            mahroboter*, drucker*, rechner*, handy*, rolladen*, rollladen*, rollo*, jalousie*,
            garagentor*, ladestation*, solaranlage*, photovoltaik*, wechselrichter*, warmepumpe*,
            luftbefeuchter*, luftentfeuchter*, luftreiniger*, beamer*, spielkonsole*, gerat*,
            *gerat, *gerate, seriennummer*, wlan, gaste wlan, alarmanlage*, turschloss*
        """,
    ),
    Keywords(
        "devices",
        "fr",
        decisive="",
        telling="""
            lumiere*, eclairage*, ampoule*, veilleuse*, interrupteur*, prise electrique, prises,
            prise connectee, multiprise*, variateur*, chauffage*, radiateur*, chaudiere*,
            climatis*, clim, ventilateur*, routeur*, box internet, televis*, tele, telecommande*,
            enceintes, enceinte connectee, enceinte bluetooth, haut parleur*, sonnette*,
            interphone*, capteur*, capteur de temperature, detecteur*, lave vaisselle*,
            lave linge*, seche linge*, machine a laver, machine a cafe, cafetiere*, frigo*,
            congelateur*, le four, du four, au four, micro onde*, hotte*, bouilloire*,
            grille pain, aspirateur*, robot aspirateur, tondeuse*, imprimante*, ordinateur*,
            volet*, rideaux, borne de recharge, panneau solaire, panneaux solaires, onduleur*,
            pompe a chaleur, humidificateur*, deshumidificateur*, purificateur*,
            videoprojecteur*, appareil*, electromenager*, numero de serie
        """,
    ),
    Keywords(
        "devices",
        "es",
        decisive="",
        telling="""
            luz, luces, bombilla*, interruptor*, enchufe*, termostat*, calefaccion, calefactor*,
            radiador*, caldera*, aire acondicionado, ventilador*, mando a distancia,
            control remoto, altavoz, altavoces, camara*, timbre*, sensor de temperatura,
            detector*, lavavajillas, lavaplatos, lavadora*, secadora*, nevera*, refrigerador*,
            congelador*, horno*, microondas, cafetera*, hervidor*, tostadora*, aspirador*,
            cortacesped*, impresora*, ordenador*, portatil*, movil, moviles, cortina*, cargador*,
            placas solares, paneles solares, inversor*, bomba de calor, humidificador*,
            deshumidificador*, purificador*, proyector*, electrodomestico*, aparato*
        """,
    ),
    Keywords(
        "devices",
        "it",
        decisive="",
        telling="""
            luce, luci, interruttor*, presa elettrica, prese elettriche, presa smart,
            riscaldamento, termosifon*, caldaia*, caldaie, condizionator*, climatizzator*,
            telecomand*, altoparlant*, telecamer*, campanello*, citofono*,
            sensore di temperatura, rilevator*, lavastoviglie, lavatric*, asciugatric*,
            congelator*, forno*, fornelli, microonde, macchina del caffe, bollitor*, tostapane,
            aspirapolver*, tosaerba, rasaerba, stampant*, tapparell*, persian*, tende, colonnina,
            pannelli solari, pannelli fotovoltaici, fotovoltaic*, pompa di calore, umidificator*,
            deumidificator*, purificator*, proiettor*, elettrodomestic*, dispositiv*,
            apparecchi*, numero di serie
        """,
    ),
    Keywords(
        "devices",
        "nl",
        decisive="",
        telling="""
            *lamp, *lampje, *lampjes, lichtschakelaar*, nachtlampje*, verlichting, *verlichting,
            schakelaar*, *schakelaar, stopcontact*, stekker*, verwarming, *verwarming, cv ketel*,
            ketel*, airco*, afstandsbediening*, luidspreker*, deurbel*, rookmelder*, *melders,
            temperatuursensor*, vaatwasser*, afwasmachine*, wasmachine*, droger*, wasdroger*,
            koelkast*, vriezer*, diepvries*, fornuis*, kookplaat*, magnetron*,
            koffiezetapparaat*, koffiemachine*, waterkoker*, broodrooster*, stofzuiger*,
            robotstofzuiger*, grasmaaier*, robotmaaier*, rolluik*, jaloezie*, gordijn*,
            garagedeur*, laadpaal*, laadstation*, zonnepane*, omvormer*, warmtepomp*,
            luchtbevochtiger*, luchtontvochtiger*, luchtreiniger*, apparaat, apparaten,
            *apparaat, *apparaten, serienummer*, thermosta*
        """,
    ),
    Keywords(
        "devices",
        "pl",
        decisive="",
        telling="""
            zarowk*, swiatl*, oswietleni*, przelacznik*, wlacznik*, wylacznik*, gniazdk*,
            wtyczk*, ogrzewani*, kaloryfer*, grzejnik*, piec, pieca, piecyk*, kociol, kotla,
            klimatyzac*, klimatyzator*, wentylator*, telewizor*, telewizj*, glosnik*, kamery,
            kamere, dzwonek, dzwonka, czujnik*, czujnik temperatury, zmywark*, pralk*, suszark*,
            lodowk*, zamrazark*, piekarnik*, kuchenk*, mikrofal*, ekspres*, czajnik*, toster*,
            odkurzacz*, kosiark*, drukark*, komputer*, rolet*, zaluzj*, ladowark*,
            panele sloneczne, fotowoltaik*, falownik*, pompa ciepla, pompy ciepla, nawilzacz*,
            osuszacz*, oczyszczacz*, rzutnik*, projektor*, urzadzeni*, sprzet*, numer seryjny,
            pilot do, pilota do, pilot od
        """,
    ),
    Keywords(
        "devices",
        "pt",
        decisive="",
        telling="""
            luzes, luminaria*, abajur*, tomada*, aquecedor*, aquecimento, ar condicionado,
            roteador*, controle remoto, caixa de som, alto falante*, campainha*, interfone*,
            lava loucas, maquina de lavar, geladeira*, freezer, fogao, cooktop*, micro ondas,
            cafeteira*, chaleira*, torradeira*, cortador de grama, impressora*, computador*,
            celular*, carregador*, painel solar, paineis solares, umidificador*,
            desumidificador*, projetor*, aparelho*, chuveiro*
        """,
    ),
    Keywords(
        "devices",
        "zh",
        decisive="",
        telling="""
            灯, 开关, 插座, 插头, 恒温器, 温控器, 暖气, 地暖, 空调, 风扇, 路由器, 无线网络, 电视,
            遥控器, 音箱, 音响, 摄像头, 门铃, 传感器, 温度传感器, 烟雾报警器, 洗碗机, 洗衣机,
            烘干机, 冰箱, 冰柜, 烤箱, 燃气灶, 微波炉, 电饭煲, 咖啡机, 水壶, 热水器, 吸尘器,
            扫地机, 打印机, 电脑, 手机, 平板, 窗帘, 充电桩, 充电器, 太阳能, 逆变器, 加湿器,
            除湿机, 净化器, 净水器, 投影仪, 家电, 设备, 型号, 序列号, 网关, 智能
        """,
    ),
    Keywords(
        "devices",
        "ja",
        decisive="",
        telling="""
            照明, ライト, 電球, ランプ, スイッチ, コンセント, プラグ, サーモスタット, 暖房,
            エアコン, 扇風機, ルーター, テレビ, リモコン, スピーカー, カメラ, インターホン,
            チャイム, センサー, 温度センサー, 火災報知器, 食洗機, 洗濯機, 乾燥機, 冷蔵庫, 冷凍庫,
            オーブン, コンロ, 電子レンジ, 炊飯器, コーヒーメーカー, 電気ポット, 給湯器, 掃除機,
            掃除ロボット, プリンター, パソコン, スマホ, タブレット, カーテン, シャッター, 充電器,
            ソーラーパネル, 太陽光, 除湿機, 空気清浄機, プロジェクター, 家電, 機器, 型番,
            製造番号, スマートホーム, コードレス, 自動車
        """,
    ),
)

_MAINTENANCE: Final = (
    Keywords(
        "maintenance",
        "en",
        decisive="""
            repair*, filter*, plumber*, electrician*, handyman, warrant*, maintenance, serviced,
            boiler service, chimney sweep*, garbage, trash, rubbish, recycling, waste, bins,
            bin day*, bin collection*, bin calendar, paper bin, recycling bin, trash bin,
            wheelie bin*, food waste, broken, leaking, leaks, descal*, limescale, technician*,
            mechanic*, plumbing, pest control
        """,
        telling="""
            battery, replac*, changed, fix, fixed, fixing, service, servicing, inspection*,
            inspected, meter reading*, emptied, expire, expires, cleaned, gutter*, mould,
            clogged, blocked, dripping, leak, spare part*, craftsman, installer, oil change*,
            tyres, tires, mold, strange noise*
        """,
    ),
    Keywords(
        "maintenance",
        "de",
        decisive="""
            *reparatur, wartung*, *wartung, gewartet, *filter, klempner*, installateur*,
            elektriker*, handwerker*, schornsteinfeger*, *garantie, gewahrleistung*, mull, *mull,
            mullabfuhr*, mulltonne*, mullkalender*, muller, *tonne, *tonnen, altpapier*,
            gelber sack, gelben sack, gelbe sacke, abfall*, abfuhrkalender*, kaputt*, defekt*,
            undicht*, verstopft, entkalk*, batteriewechsel*, techniker*, monteur*, restmull*,
            biomull*, tropft, gelbe tonne, gelben tonne, graue tonne, blaue tonne, braune tonne,
            die tonnen
        """,
        telling="""
            batteri*, *batterie, *batterien, akku*, gewechselt, wechseln, ausgetauscht,
            austauschen, erneuert, erneuern, abgeholt, geleert, inspektion*, zahlerstand*,
            ablesung, schimmel*, ersatzteil*, olwechsel*, reifen*, gereinigt, reinigung*,
            hausmeister*, tonne
        """,
    ),
    Keywords(
        "maintenance",
        "fr",
        decisive="""
            repar*, filtr*, plombier*, electricien*, garanti*, entretien*, ramonage*, ramoneur*,
            chauffagiste*, poubelle*, dechet*, tri selectif, bac jaune, bac gris, encombrants,
            panne, pannes, cassee, fuite*, detartr*, revision de la chaudiere, entretenu*,
            technicien*, ordure*, en panne, ne marche plus, recyclage
        """,
        telling="""
            piles, remplac*, changer les piles, changer le, revision, releve, compteur*,
            moisissure*, artisan, depann*, pneus, ramass*, collecte*, vidange, la pile, pile du,
            pile de la, pile bouton
        """,
    ),
    Keywords(
        "maintenance",
        "es",
        decisive="""
            fontaner*, plomero*, electricista*, mantenimiento, basura*, reciclaje*, contenedor*,
            averia*, estropead*, fuga, fugas, gotera*, revision de la caldera, arregl*,
            mecanico*, no funciona, goteo, esta roto, esta rota, se rompio, rotura
        """,
        telling="""
            pila, pilas, bateria*, cambi*, reemplaz*, sustitu*, revision*, inspeccion*, caduca,
            atasc*, moho, contador*, recogida, recogen, roto
        """,
    ),
    Keywords(
        "maintenance",
        "it",
        decisive="""
            idraulic*, elettricist*, manutenzion*, ripar*, garanzi*, spazzatura, rifiuti,
            immondizia, raccolta differenziata, differenziata, guast*, rotto, rotti, rotte,
            perde acqua, perdita d acqua, spazzacamino, decalcific*, revisione della caldaia,
            bidone*, bidoni, tecnic*, non funziona, caldaista, spurgo
        """,
        telling="sostitu*, scade, scadono, scadenza, contatore, tagliando, ritir*, muffa, gomme",
    ),
    Keywords(
        "maintenance",
        "nl",
        decisive="""
            loodgieter*, elektricien*, onderhoud*, *onderhoud, gerepareerd, vuilnis*, afval*,
            *afval, kliko*, grijze container*, groene container*, groenbak*, oud papier,
            oudpapier*, gft*, papierbak*, kapot*, lekt, lekkage*, ontkalk*, schoorsteenveger*,
            doet het niet, restafval*
        """,
        telling="""
            *batterij, *batterijen, vervang*, geleegd, opgehaald, container*, keuring*, beurt,
            meterstand*, klusjesman, vakman, verstopt, lek, apk
        """,
    ),
    Keywords(
        "maintenance",
        "pl",
        decisive="""
            hydraulik*, elektryk*, serwis*, napraw*, gwarancj*, smiec*, odpad*, wywoz*,
            segregowan*, zepsu*, awari*, usterk*, cieknie, przeciek*, kominiarz*, odkamieni*,
            przeglad*, konserwac*, nie dziala, wezwac, kosze na, montera, monterzy
        """,
        telling="""
            wymian*, wymien*, odbier*, odbior*, fachow*, licznik*, plesn*, zatkan*, opony,
            kosz na
        """,
    ),
    Keywords(
        "maintenance",
        "pt",
        decisive="""
            encanador*, eletricista*, manutencao, consert*, lixo*, reciclavel, reciclaveis,
            reciclagem, coleta seletiva, quebrad*, quebrou, defeito*, vazamento*, vazando,
            entupid*, dedetiza*, nao funciona, lixeira*
        """,
        telling="""
            pilha, pilhas, troca, trocar, trocad*, trocou, substitu*, revisao, vence, coleta,
            limpeza, mofo, goteira*
        """,
    ),
    Keywords(
        "maintenance",
        "zh",
        decisive="""
            维修, 修理, 保养, 维护, 滤芯, 滤网, 过滤, 垃圾, 保修, 质保, 漏水, 坏了, 故障, 水管工,
            电工, 换电池, 年检, 检修, 师傅, 不制冷, 漏了
        """,
        telling="更换, 电池, 换了, 清洗, 堵了, 疏通, 物业, 水表, 电表, 燃气表, 除垢",
    ),
    Keywords(
        "maintenance",
        "ja",
        decisive="""
            点検, メンテナンス, フィルター, ゴミ, ごみ, 保証書, 保証期間, 水漏れ, 壊れ, 水道業者,
            電気工事, 電池交換, 車検, 業者, 動かない, カートリッジ, 水道屋
        """,
        telling="交換, 電池, 収集日, 回収, 掃除, 保証, カビ",
    ),
)

_EVENTS: Final = (
    Keywords(
        "events",
        "en",
        decisive="""
            birthday*, party, parties, guests, visit*, holiday*, vacation*, anniversar*,
            wedding*, christmas, easter, thanksgiving, halloween, new year*, barbecue*, bbq,
            concert*, festival*, celebrat*, baptism, christening, funeral*, graduation*, trip,
            picnic*, housewarming, baby shower, sleepover*, school trip*, marries,
            getting married, get married, coming for dinner, coming to dinner, come to dinner,
            comes to visit, dinner party
        """,
        telling="""
            guest, appointment*, dinner with, flight*, flying, travel*, weekend*, tickets,
            cinema, theatre, coming over, staying with us, next week, tomorrow, reunion, event,
            events
        """,
    ),
    Keywords(
        "events",
        "de",
        decisive="""
            geburtstag*, *geburtstag, *geburtstage, feier*, *feier, *party, gaste, gasten,
            besuch*, hochzeit*, jubilaum*, jahrestag*, urlaub*, ferien*, *ferien, weihnacht*,
            ostern, silvester*, taufe, konfirmation, kommunion, einschulung, beerdigung*,
            grillabend*, grillfest*, konzert*, klassenfahrt*, ausflug*, *fest, heiratet,
            heiraten, zum essen kommen, zu gast, grillen
        """,
        telling="""
            gast, termin, termine, terminen, *termin, eingeladen, einladung*, einladen, reise*,
            flug, fliegt, ubernachte*, treffen, kommt vorbei, veranstaltung*, fest, wochenende*
        """,
    ),
    Keywords(
        "events",
        "fr",
        decisive="""
            anniversaire*, fete, fetes, fetons, vacances, mariage*, paques, reveillon, bapteme,
            enterrement, voyage*, nos invites, des invites, se marie, se marient, viennent diner,
            vient diner, viennent dejeuner, viennent manger, les # ans, a noel, pour noel,
            de noel
        """,
        telling="""
            invit*, rendez vous, rdv, sortie, week end, evenement*, celebr*, communion, sejour,
            noel
        """,
    ),
    Keywords(
        "events",
        "es",
        decisive="""
            cumpleanos, fiesta*, invitados, vacaciones, boda*, aniversari*, navidad*,
            semana santa, nochevieja, nochebuena, bautizo*, viaje*, viajar, viajamos, excursion*,
            concierto*, barbacoa*, se casa, se casan, vienen a cenar, vienen a comer,
            viene a cenar, viene a comer
        """,
        telling="cita, citas, reunion*, vuelo*, fin de semana, cena con, evento, eventos",
    ),
    Keywords(
        "events",
        "it",
        decisive="""
            compleann*, festa, feste, festegg*, ospiti, vacanz*, matrimoni*, natale, pasqua,
            capodanno, ferragosto, battesim*, cresima, viaggi*, gita, laurea, grigliata,
            si sposa, si sposano, vengono a cena, viene a cena, vengono a pranzo, viene a pranzo
        """,
        telling="ospite, appuntament*, volo, ferie, riunion*, comunione, a cena, eventi",
    ),
    Keywords(
        "events",
        "nl",
        decisive="""
            verjaardag*, jarig*, feest*, *feest, *feestje, bezoek*, *bezoek, vakantie*,
            trouwdag*, bruiloft*, jubileum*, pasen, sinterklaas*, oud en nieuw, begrafenis*,
            uitje, schoolreis*, logeren, logeert, logees, trouwt, trouwen, komen eten, komt eten,
            komen logeren, komt logeren, kerst, kerstmis, kerstdag*, kerstboom*, kerstdiner*,
            kerstavond
        """,
        telling="afspraak, afspraken, uitgenodigd, uitnodig*, reis, vlucht, bijeenkomst*",
    ),
    Keywords(
        "events",
        "pl",
        decisive="""
            urodzin*, imienin*, imprez*, przyjeci*, goscie, gosci, goscmi, wizyt*, odwiedz*,
            wakacj*, urlop*, slub, slubu, wesele, wesela, rocznic*, swieta, wigili*, wielkanoc*,
            sylwest*, chrzcin*, pogrzeb*, wycieczk*, koncert*, przyjezdza*, bierze slub,
            biora slub, przychodza na
        """,
        telling="""
            zapros*, zaprasz*, spotkani*, wydarzeni*, podroz*, wyjazd*, gosc, komunia, komunii
        """,
    ),
    Keywords(
        "events",
        "pt",
        decisive="""
            festa*, convidado*, ferias, casamento*, natal, pascoa, ano novo, batizado*,
            formatura*, velorio, enterro, viagem, viagens, passeio*, churrasco*, carnaval,
            vai casar, vao casar, vem jantar, vem almocar, vem visitar
        """,
        telling="convid*, compromisso*, reuniao, voo, feriado*, fim de semana",
    ),
    Keywords(
        "events",
        "zh",
        decisive="""
            生日, 聚会, 派对, 客人, 做客, 拜访, 来访, 假期, 放假, 度假, 旅行, 旅游, 纪念日, 婚礼,
            结婚, 春节, 过年, 中秋, 国庆, 圣诞, 元旦, 端午, 葬礼, 毕业, 演唱会, 音乐会, 庆祝,
            聚餐, 来家里, 来吃饭, 来我家, 聚聚
        """,
        telling="约会, 预约, 邀请, 活动, 周末, 航班, 出差, 满月",
    ),
    Keywords(
        "events",
        "ja",
        decisive="""
            誕生日, パーティー, 来客, お客, 訪問, 記念日, 結婚式, クリスマス, お正月, お盆, 法事,
            葬式, 卒業, 入学式, 運動会, 発表会, 同窓会, 飲み会, 休暇, 夏休み, 冬休み, 連休, 帰省,
            遊びに来, 泊まりに来, お祝い, バーベキュー, コンサート, フライト, 結婚する, 食事会,
            ごはんに来, 入園式, 送別会
        """,
        telling="予定, 約束, 招待, イベント, 予約, 飛行機, 出張, 週末",
    ),
)

_PREFERENCES: Final = (
    Keywords(
        "preferences",
        "en",
        decisive="""
            prefer*, favourite*, hates, hate, dislike*, loves, likes, enjoys, can t stand,
            doesn t like, don t like, does not like, do not like, fan of, would rather, fond of,
            vegan*, filter coffee
        """,
        telling="""
            like, love, enjoy, degrees, warm, warmer, cold, cooler, too hot, dimmed, loud, quiet,
            spicy, sweet, sugar, music, jazz, playlist*, band, temperature*, colour, color,
            taste*, drinks, eats, at # degrees
        """,
    ),
    Keywords(
        "preferences",
        "de",
        decisive="""
            lieblings*, bevorzug*, lieber, am liebsten, hasst, hasse, gern, gerne, ungern, liebt,
            schmeckt, vorliebe*, abneigung*, mag kein*, nicht leiden, filterkaffee
        """,
        telling="""
            mag, mogen, magst, mochte, grad, kalt, kuhl, hell, dunkel, gedimmt, laut, leise,
            scharf, suss*, zucker, musik, *musik, trinkt, isst, geschmack
        """,
    ),
    Keywords(
        "preferences",
        "fr",
        decisive="""
            favori, favoris, aime, aiment, adore*, detest*, gout, gouts, n aime pas, vegetari*
        """,
        telling="""
            degres, chaud, froid, frais, sucre, epice*, musique, tamise*, mange, boit, couleur
        """,
    ),
    Keywords(
        "preferences",
        "es",
        decisive="""
            gusta, gustan, gustaria, encanta, encantan, odia, odio, odian, favorit*, adora*,
            no soporta, prefier*
        """,
        telling="grados, calor, frio, caliente, musica, azucar, picante, dulce, tenue",
    ),
    Keywords(
        "preferences",
        "it",
        decisive="piace, piacciono, odiano, gusto, gusti, non sopporta",
        telling="ama, gradi, caldo, freddo, zucchero, piccante, dolce, amaro, colore, beve",
    ),
    Keywords(
        "preferences",
        "nl",
        decisive="""
            houdt van, houden van, hou van, houdt niet, lievelings*, liever, liefst, voorkeur*,
            haat, dol op, lust geen, favoriet*
        """,
        telling="""
            graden, koud, muziek, *muziek, suiker, pittig, zoet, drinkt, eet, temperatuur, houdt,
            lekker, lust, smaak
        """,
    ),
    Keywords(
        "preferences",
        "pl",
        decisive="""
            lubi, lubia, lubie, lubimy, uwielbia*, woli, wola, ulubion*, nienawidz*, nie znosi,
            nie cierpi, przepada, smakuj*, upodoban*, wegetari*
        """,
        telling="stopni, ciepl*, zimn*, chlod*, muzyk*, cukru, cukier, slodk*, gorzk*, pije",
    ),
    Keywords(
        "preferences",
        "pt",
        decisive="gosta, gostam, gosto, odeia, odeiam, nao suporta",
        telling="graus, quente, acucar, doce, sabor",
    ),
    Keywords(
        "preferences",
        "zh",
        decisive="""
            喜欢, 喜爱, 最爱, 偏好, 偏爱, 讨厌, 爱吃, 爱喝, 爱听, 不爱, 怕冷, 怕热, 口味, 素食,
            吃素
        """,
        telling="温度, #度, 太热, 太冷, 音乐, 甜, 辣, 亮度, 颜色, 味道",
    ),
    Keywords(
        "preferences",
        "ja",
        decisive="好き, 嫌い, 苦手, お気に入り, 好み, 好物, 暑がり, 寒がり, ベジタリアン",
        telling="甘い, 甘め, 辛い, 辛口, 音楽, レコード, 明るさ, ぬるめ",
    ),
)

_HEALTH: Final = (
    Keywords(
        "health",
        "en",
        decisive="""
            allerg*, medication*, medicine*, prescription*, diabet*, insulin*, blood pressure,
            blood sugar, blood type, blood group, inhaler*, vaccin*, epipen*, epi pen*,
            intoleran*, lactose, coeliac*, celiac*, gluten*, doctor*, dentist*, hospital*,
            pharmac*, surgery, physiotherap*, pregnan*, disease*, illness*, epilep*, migraine*,
            pill, pills, pacemaker, antibiotic*, paediatric*, pediatr*, cancer, dermatolog*,
            neurolog*, orthopaed*, orthoped*, gynaecolog*, gynecolog*, optician*, blood thinner*,
            antihistamin*, hay fever, surgeon, clinic, blood test*
        """,
        telling="""
            diet, diets, dose*, health*, heart, hearing aid*, vitamin*, ibuprofen*, paracetamol,
            penicillin*, peanut*, cough*, fever, back pain, headache*, injur*, ill, sick,
            check up, checkup, flu, cholesterol*, therap*, wheelchair, gp, reading glasses,
            wears glasses
        """,
    ),
    Keywords(
        "health",
        "de",
        decisive="""
            *allergie, *allergien, *allergiker, *allergikerin, medikament*, *medikament,
            *medikamente, tabletten, *tablette, *tabletten, arznei*, blutdruck*, bluthochdruck,
            blutzucker*, blutgruppe*, unvertraglich*, *unvertraglichkeit, *intoleranz, zoliakie,
            laktose*, arzt*, *arzt, *arztin, zahnarzt*, kinderarzt*, hausarzt*, krankenhaus*,
            apotheke*, impf*, geimpft, *impfung, schwanger*, krank, krankheit*, erkrankt,
            migrane*, herzschrittmacher, kardiolog*, hautarzt*, augenarzt*, gynakolog*,
            orthopad*, blutverdunner*, heuschnupfen*
        """,
        telling="""
            tablette, diat*, gesund*, herz, horgerat*, brille, husten, fieber, schmerz*,
            *schmerzen, dosis, erdnuss*, operation, pflege, pflegedienst*
        """,
    ),
    Keywords(
        "health",
        "fr",
        decisive="""
            medicament*, ordonnance*, tension arterielle, hypertension, glycemi*, asthm*,
            coeliaqu*, medecin*, docteur*, hopital*, comprime, comprimes, maladie*, malade*,
            enceinte, grossesse, ophtalmolog*, kine, rhume des foins, prise de sang
        """,
        telling="regime, sante, coeur, lunettes, fievre, toux, douleur*, arachide*, soins",
    ),
    Keywords(
        "health",
        "es",
        decisive="""
            alerg*, medicina*, medicacion, pastilla*, tension arterial, tension alta, hipertens*,
            asma*, vacuna*, medico*, enferm*, embaraz*, lactosa, ginecolog*, traumatolog*,
            analisis de sangre
        """,
        telling="""
            dieta*, salud, corazon, gafas, fiebre, tos, cacahuete*, frutos secos, jarabe,
            colesterol*, consulta, dolor
        """,
    ),
    Keywords(
        "health",
        "it",
        decisive="""
            medici, farmac*, pillol*, pastigli*, pressione alta, pressione sanguigna, ipertens*,
            glicemi*, intolleran*, glutine, dottor*, ospedal*, malat*, incinta, emicrani*,
            epiless*, lattosio, oculist*, esami del sangue
        """,
        telling="salute, cuore, occhiali, febbre, tosse, arachidi, compresse, dolore, dolori",
    ),
    Keywords(
        "health",
        "nl",
        decisive="""
            medicijn*, medicatie, bloeddruk*, bloedsuiker*, suikerziekte, inhalator*, inent*,
            ingeent, coeliakie, huisarts*, tandarts*, kinderarts*, dokter*, ziekenhuis*,
            apotheek*, ziek, ziekte*, zwanger*, pil, pillen, pijnstiller*, griepprik, cardiolo*,
            bloedverdunner*, oogarts*, fysiotherap*, hooikoorts, bloedprikken
        """,
        telling="""
            dieet*, gezondheid*, bril, koorts, hoest*, pijn, *pijn, pinda*, noten, slikt,
            slikken, zijn hart, haar hart, hartklachten, hartpatient*
        """,
    ),
    Keywords(
        "health",
        "pl",
        decisive="""
            uczul*, leki, lekow, lekarstw*, lekarz*, lekark*, tabletk*, cisnieni*, nadcisnieni*,
            cukrzyc*, astm*, szczepi*, nietoleranc*, celiaki*, dentyst*, stomatolog*, szpital*,
            aptek*, chory, chorob*, choruj*, ciaza, ciazy, migren*, padaczk*, laktoz*,
            antybiotyk*, recepta, recepte, okulist*, ginekolog*, ortoped*, rehabilitac*,
            badanie krwi, badania krwi, jest chora
        """,
        telling="""
            diety, diete, zdrow*, serce, serca, okular*, witamin*, goraczk*, kaszel, kaszle,
            bol glowy, dawk*, orzech*, orzeszk*
        """,
    ),
    Keywords(
        "health",
        "pt",
        decisive="""
            remedio*, medicacao, pressao alta, pressao arterial, vacina*, medica, doutor*,
            posto de saude, doenca*, doente*, gravida, enxaqueca*, comprimido*, bombinha,
            oftalmolog*, exame de sangue
        """,
        telling="saude, coracao, oculos, febre, dor, dores, amendoim",
    ),
    Keywords(
        "health",
        "zh",
        decisive="""
            过敏, 药, 血压, 血糖, 血型, 糖尿病, 胰岛素, 哮喘, 疫苗, 打针, 接种, 医生, 牙医, 医院,
            看病, 复查, 体检, 怀孕, 生病, 疾病, 心脏病, 乳糖不耐, 麸质, 手术, 忌口
        """,
        telling="""
            健康, 饮食, 心脏, 眼镜, 维生素, 发烧, 咳嗽, 疼, 剂量, 减肥, 花生, 胆固醇, 助听器
        """,
    ),
    Keywords(
        "health",
        "ja",
        decisive="""
            アレルギー, 薬, 服用, 血圧, 血液型, インスリン, 喘息, ぜんそく, ワクチン, 予防接種,
            医者, 病院, 歯医者, 歯科, 小児科, 通院, 診察, 受診, 入院, 妊娠, 病気, 持病, 処方,
            不耐症, グルテン, 手術, 健康診断, クリニック, 花粉症, 食事制限
        """,
        telling="心臓, 眼鏡, ビタミン, サプリ, 熱がある, 咳, 頭痛, 腰痛, ダイエット, 補聴器",
    ),
)

_SECRETS: Final = (
    Keywords(
        "secrets",
        "en",
        decisive="""
            password*, wifi password*, wi fi password*, passcode*, passphrase*, pin, pin code*,
            pincode*, alarm code*, door code*, gate code*, access code*, entry code*, key code*,
            keycode*, lock code*, security code*, secret, secrets, spare key*, key under,
            credential*, hidden
        """,
        telling="""
            code, codes, key, keys, safe, hide, hides, confidential, username*, login*, keypad*,
            lockbox, combination, account number*, disarm*, unlock*
        """,
    ),
    Keywords(
        "secrets",
        "de",
        decisive="""
            passwort*, *passwort, kennwort*, geheim*, zugangscode*, turcode*, alarmcode*,
            ersatzschlussel*, zweitschlussel*, tresor*, zahlenschloss*, versteck*, zugangsdaten,
            wlan passwort*, wlan schlussel, hauscode*, torcode*, sicherheitscode*, entsperrcode*
        """,
        telling="""
            schlussel*, *schlussel, anmeldedaten, kombination, schliessfach*, entsperr*,
            entscharf*, kontonummer*
        """,
    ),
    Keywords(
        "secrets",
        "fr",
        decisive="""
            mot de passe, mots de passe, code de l alarme, code d acces, code secret, code wifi,
            code pin, coffre fort, cle de secours, double des cles, double de la cle, secrete,
            secretes, digicode*, cachee, cachees
        """,
        telling="""
            cle, cles, cache, caches, combinaison, coffre, identifiant*, desarm*, deverrouill*
        """,
    ),
    Keywords(
        "secrets",
        "es",
        decisive="""
            contrasena*, clave, claves, codigo de la alarma, codigo de acceso,
            codigo de la puerta, caja fuerte, escondid*, llave de repuesto, copia de la llave,
            secreto, secretos, secreta, secretas
        """,
        telling="codigo*, llave, llaves, combinacion, desactiva la alarma, desbloque*",
    ),
    Keywords(
        "secrets",
        "it",
        decisive="""
            codice dell allarme, codice di accesso, codice del cancello, cassaforte, nascost*,
            chiave di riserva, chiavi di riserva, credenzial*, segreto, segreti, segreta, segrete
        """,
        telling="""
            codice, codici, chiave, chiavi, combinazione, nascond*, disattiva l allarme, sblocc*
        """,
    ),
    Keywords(
        "secrets",
        "nl",
        decisive="""
            wachtwoord*, *wachtwoord, toegangscode*, deurcode*, kluis*, verborgen,
            reservesleutel*, cijferslot*, inloggegevens
        """,
        telling="sleutel*, *sleutel, combinatie, verstopt, ontgrendel*",
    ),
    Keywords(
        "secrets",
        "pl",
        decisive="""
            haslo, hasla, haslem, pinu, kod do, kod alarm*, kod dostepu, sejf*, tajne, tajny,
            tajemnic*, ukryt*, schowan*, zapasowy klucz, zapasowe klucze
        """,
        telling="kod, kodu, kody, kodem, klucz*, szyfr*, odblok*, rozbraja*",
    ),
    Keywords(
        "secrets",
        "pt",
        decisive="""
            senha*, codigo do alarme, codigo de acesso, cofre*, segredo*, chave reserva,
            chave extra, copia da chave, credenciais
        """,
        telling="chave, chaves, combinacao",
    ),
    Keywords(
        "secrets",
        "zh",
        decisive="密码, 口令, 验证码, 保险箱, 保险柜, 备用钥匙, 秘密, 藏在, 藏着",
        telling="钥匙, 账号, 门禁",
    ),
    Keywords(
        "secrets",
        "ja",
        decisive="パスワード, 暗証, 合鍵, 合い鍵, スペアキー, 金庫, 隠し, 内緒, 暗号キー",
        telling="鍵, コード, ログイン, アカウント",
    ),
)

_ROUTINES: Final = (
    Keywords(
        "routines",
        "en",
        decisive="""
            routine*, whenever, when the last, when everyone, when everybody, when nobody,
            when no one, if nobody, if no one, every morning, every evening, every night,
            each morning, each evening, each night, bedtime, before bed, goes to bed, go to bed,
            turn off, turn on, switch off, switch on, turn it off, turn it on, switch it off,
            switch it on, leave on, after midnight, until midnight, movie night, as soon as,
            away mode, night mode
        """,
        telling="""
            when, always, usually, habit, habits, habitude*, habitualmente, habito, habitos,
            trigger*, sunset, sunrise, midnight, every day, wakes up, wake up, wake me, turns on,
            turns off, turned on, turned off, switches on, switches off, stays on, stay on,
            on until, leave the, turn the, dim, remind*
        """,
    ),
    Keywords(
        "routines",
        "de",
        decisive="""
            *routine, jeden morgen, jeden abend, jede nacht, immer wenn, sobald, wenn niemand,
            wenn alle, vor dem schlafen*, schlafengehen, ausschalten, einschalten, anschalten,
            abschalten, nach mitternacht, aufstehen, gute nacht, anlassen, feierabend*
        """,
        telling="""
            wenn, immer, jeden tag, gewohnheit*, morgens, abends, nachts, sonnenuntergang*,
            sonnenaufgang*, mitternacht, angehen, ausgehen, hochfahren, herunterfahren,
            runterfahren, dimmen, ausmachen, anmachen, licht aus, lichter aus, meistens,
            eingeschaltet, ausgeschaltet, nachtmodus
        """,
    ),
    Keywords(
        "routines",
        "fr",
        decisive="""
            chaque matin, chaque soir, chaque nuit, tous les matins, tous les soirs,
            toutes les nuits, avant de dormir, avant de se coucher, des que, eteindre, eteins,
            eteign*, allumer, allumez, apres minuit, au reveil, mode nuit
        """,
        telling="""
            quand, lorsqu*, toujours, minuit, coucher du soleil, lever du soleil, chaque jour,
            tous les jours, eteint, allume, d habitude
        """,
    ),
    Keywords(
        "routines",
        "es",
        decisive="""
            rutina*, cada manana, cada noche, todas las mananas, todas las noches,
            antes de dormir, antes de acostar*, cuando salimos, cuando llegamos, cuando llego,
            siempre que, en cuanto, apagar, apaga, apague, encender, encienda, al despertar*,
            al acostar*, al levantar*, modo noche
        """,
        telling="""
            cuando, siempre, costumbre*, cada dia, todos los dias, anochecer, amanecer,
            medianoche, puesta de sol, bajar las, subir las, enciende
        """,
    ),
    Keywords(
        "routines",
        "it",
        decisive="""
            ogni mattina, ogni sera, ogni notte, tutte le sere, tutte le mattine,
            prima di dormire, andare a letto, andiamo a letto, quando usciamo, quando torno,
            non appena, spegn*, accend*, dopo mezzanotte, al risveglio
        """,
        telling="""
            quando, sempre, abitudin*, ogni giorno, tramonto, mezzanotte, di solito, abbass*
        """,
    ),
    Keywords(
        "routines",
        "nl",
        decisive="""
            elke ochtend, elke avond, elke nacht, iedere ochtend, iedere avond, voor het slapen*,
            bedtijd, naar bed, als iedereen, als niemand, zodra, aandoen, uitdoen, uitzetten,
            aanzetten, uitschakelen, inschakelen, na middernacht, opstaan, aanlaten
        """,
        telling="""
            als we, als ik, wanneer, altijd, gewoonte*, elke dag, zonsondergang, zonsopgang,
            middernacht, lampen uit, licht uit, lichten uit, meestal, nachtstand
        """,
    ),
    Keywords(
        "routines",
        "pl",
        decisive="""
            rutyn*, automat*, co wieczor, co rano, kazdego ranka, kazdego wieczoru, kazdej nocy,
            przed snem, przed spaniem, po przebudzeniu, gdy wychodz*, kiedy wychodz*, zawsze gdy,
            jak tylko, wylacz*, wlacz*, zgas*, zapala*, po polnocy, gasi, gasimy, gasic
        """,
        telling="""
            kiedy, gdy, zawsze, zwyczaj*, nawyk*, codziennie, zachod slonca, zachodzie slonca,
            wschod slonca, wschodzie slonca, polnocy, zamyka*, opuszcz*
        """,
    ),
    Keywords(
        "routines",
        "pt",
        decisive="""
            rotina*, toda manha, toda noite, todas as noites, todas as manhas, antes de deitar,
            ao acordar, quando eu, quando saimos, quando sairmos, quando chegar*, sempre que,
            assim que, acender, acenda, acende, desligar, desligue, desliga, meia noite,
            hora de dormir
        """,
        telling="""
            ligar, ligue, todo dia, todos os dias, por do sol, nascer do sol, anoitecer, costuma,
            costumam
        """,
    ),
    Keywords(
        "routines",
        "zh",
        decisive="""
            每天早上, 每天晚上, 每晚, 睡前, 睡觉前, 起床后, 起床时, 自动, 离家, 回家时, 回家后,
            到家, 出门时, 就打开, 就关, 关灯, 开灯, 关闭所有, 例行, 场景
        """,
        telling="每天, 总是, 习惯, 打开, 关闭, 日落, 日出, 半夜, 午夜, 时候",
    ),
    Keywords(
        "routines",
        "ja",
        decisive="""
            毎朝, 毎晩, 寝る前, 起きたら, 帰宅したら, 帰宅時, 出かけるとき, 出かける時, 外出時,
            就寝, 自動, 消して, 消す, 点灯, 消灯, 日課, ルーティン
        """,
        telling="""
            毎日, いつも, 習慣, 日没, 日の出, 夜中, 深夜, 開ける, 閉める, をつける, をつけて,
            オンに, オフに
        """,
    ),
)

_SCHEDULES: Final = (
    Keywords(
        "schedules",
        "en",
        decisive="""
            timetable*, schedule*, opening hours, office hours, working hours, work hours,
            school hours, school times, night shift*, weekdays
        """,
        telling="""
            monday*, tuesday*, wednesday*, thursday*, friday*, saturday*, sunday*, every monday*,
            every tuesday*, every wednesday*, every thursday*, every friday*, every saturday*,
            every sunday*, at #, at # o clock, # o clock, #am, #pm, at noon, from # to #, #:#,
            lesson*, class, classes, practice, training, school, works from, at work, daily,
            monthly, calendar, meeting*, kindergarten, nursery, starts at, ends at, opens at,
            closes at, home office, shift, shifts, curfew, weekly, fortnightly, biweekly,
            every week, every other week, rota
        """,
    ),
    Keywords(
        "schedules",
        "de",
        decisive="""
            stundenplan*, zeitplan*, dienstplan*, fahrplan*, offnungszeit*, arbeitszeit*,
            schulzeit*, fruhschicht, spatschicht, nachtschicht, burozeit*
        """,
        telling="""
            montag*, dienstag*, mittwoch*, donnerstag*, freitag*, samstag*, sonnabend*, sonntag*,
            # uhr, um # uhr, von # bis #, von # bis # uhr, schule, kita, training*, unterricht*,
            *unterricht, kurs, *kurs, arbeitet, homeoffice, monatlich, taglich, wochentags,
            werktags, kalender*, wochentlich*, jede woche, alle zwei wochen, klavierstunde*,
            reitstunde*, musikstunde*, sportstunde*
        """,
    ),
    Keywords(
        "schedules",
        "fr",
        decisive="emploi du temps, horaire*, heures d ouverture, heures de bureau",
        telling="""
            lundi*, mardi*, mercredi*, jeudi*, vendredi*, samedi*, dimanche*, # heures,
            a # heures, #h, #h#, ecole*, cours, entrainement*, creche, travaille, teletravail,
            calendrier*, lecon, lecons, mensuel*, hebdomadaire*, chaque semaine,
            toutes les semaines, planning*
        """,
    ),
    Keywords(
        "schedules",
        "es",
        decisive="horario*, jornada laboral",
        telling="""
            lunes, martes, miercoles, jueves, viernes, sabado*, domingo*, a las #, # horas,
            de # a # horas, colegio*, escuela*, clase, clases, entrenamiento*, guarderia,
            trabaja, teletrabajo, mensual*, calendario*, turno*, semanal*, cada semana,
            todas las semanas
        """,
    ),
    Keywords(
        "schedules",
        "it",
        decisive="orario, orari",
        telling="""
            lunedi, martedi, mercoledi, giovedi, venerdi, sabato, alle #, dalle # alle #, ore #,
            scuola, scuole, lezion*, corso, allenament*, asilo, lavora, smart working, mensil*,
            turni, settimanal*, ogni settimana, tutte le settimane
        """,
    ),
    Keywords(
        "schedules",
        "nl",
        decisive="lesrooster*, openingstijd*, werktijd*, schooltijd*, dienstrooster*",
        telling="""
            maandag*, dinsdag*, woensdag*, donderdag*, vrijdag*, zaterdag*, zondag*, # uur,
            om # uur, van # tot #, van # tot # uur, rooster, zwemles*, pianoles*, muziekles*,
            opvang, thuiswerk*, agenda, maandelijks, wekelijks*, elke week, om de week
        """,
    ),
    Keywords(
        "schedules",
        "pl",
        decisive="""
            harmonogram*, plan lekcji, rozklad*, godziny otwarcia, godziny pracy, grafik pracy,
            grafik dyzurow
        """,
        telling="""
            poniedzial*, wtorek, wtorki, wtorku, sroda, srode, srody, czwart*, piatek, piatki,
            piatku, sobot*, niedziel*, o #, od # do #, w kazdy, w kazda, godz, godzinie, szkol*,
            lekcj*, zajeci*, trening*, przedszkol*, pracuje, kalendarz*, miesieczn*, tygodniow*,
            co tydzien
        """,
    ),
    Keywords(
        "schedules",
        "pt",
        decisive="cronograma*",
        telling="""
            segunda feira, terca feira, quarta feira, quinta feira, sexta feira, toda segunda,
            toda terca, toda quarta, toda quinta, toda sexta, segundas, tercas, quartas, quintas,
            sextas, as #, das # as #, escola*, aula, aulas, treino*, natacao, trabalha, mensal*,
            toda semana, todas as semanas, expediente
        """,
    ),
    Keywords(
        "schedules",
        "zh",
        decisive="时间表, 课程表, 课表, 日程, 上班时间, 作息, 营业时间, 排班, 值班",
        telling="""
            周一, 周二, 周三, 周四, 周五, 周六, 周日, 星期, 礼拜, #点, 点钟, 点半, 三点, 四点,
            五点, 六点, 七点, 八点, 九点, 十点, 上课, 钢琴课, 补习, 上班, 下班, 上学, 放学, 学校,
            幼儿园, 每月, 上午, 下午, 每周, 每星期, 隔周
        """,
    ),
    Keywords(
        "schedules",
        "ja",
        decisive="時間割, スケジュール, 営業時間, 勤務, 時間表",
        telling="""
            月曜, 火曜, 水曜, 木曜, 金曜, 土曜, 日曜, #時, 午前, 午後, 保育園, 幼稚園, 塾,
            レッスン, 習い事, 授業, 練習, 仕事, 出勤, 毎月, カレンダー, シフト, 毎週, 隔週
        """,
    ),
)

ROOM_KEYWORDS: Final = (
    *_DEVICES,
    *_MAINTENANCE,
    *_EVENTS,
    *_PREFERENCES,
    *_HEALTH,
    *_SECRETS,
    *_ROUTINES,
    *_SCHEDULES,
)

# What the default rooms and wings are called; singular forms are accepted too.
_NAMES: Final = (
    (
        "household",
        """
        household, haushalt, menage, maison, hogar, casa, huishouden, huis, gospodarstwo domowe,
        dom, lar, 家庭, 家居
    """,
    ),
    (
        "personal",
        """
        personal, personlich, persoenlich, persoenliches, personliches, privat, prive, personnel,
        personnelle, personale, privato, privado, persoonlijk, osobiste, prywatne, pessoal, 个人,
        私人, 個人, プライベート
    """,
    ),
    (
        "automation",
        """
        automation, automations, automatisierung, automatisierungen, automatisation,
        automatisations, automatizacion, automatizaciones, automazione, automazioni,
        automatisering, automatiseringen, automatyzacja, automatyzacje, automacao, automacoes,
        自动化, オートメーション, 自動化
    """,
    ),
    (
        "general",
        """
        general, allgemein, allgemeines, generale, generaal, algemeen, ogolne, ogolny, geral, 通用,
        常规, 一般, 全般
    """,
    ),
    (
        "devices",
        """
        devices, device, gerate, gerat, geraete, appareils, appareil, dispositivos, dispositivo,
        dispositivi, apparaten, apparaat, urzadzenia, urzadzenie, aparelhos, 设备, 機器, デバイス
    """,
    ),
    (
        "maintenance",
        """
        maintenance, wartung, instandhaltung, entretien, mantenimiento, manutenzione, onderhoud,
        konserwacja, utrzymanie, manutencao, 维护, 维修, 保养, メンテナンス, 保守
    """,
    ),
    (
        "events",
        """
        events, event, ereignisse, ereignis, veranstaltungen, evenements, evenement, eventos,
        evento, eventi, evenementen, gebeurtenissen, wydarzenia, wydarzenie, 事件, 活动, イベント,
        行事
    """,
    ),
    (
        "preferences",
        """
        preferences, preference, vorlieben, vorliebe, praferenzen, preferencias, preferencia,
        preferenze, preferenza, voorkeuren, voorkeur, preferencje, 偏好, 喜好, 好み, 嗜好
    """,
    ),
    (
        "health",
        """
        health, gesundheit, sante, salud, salute, gezondheid, zdrowie, saude, 健康
    """,
    ),
    (
        "secrets",
        """
        secrets, secret, geheimnisse, geheimnis, secretos, secreto, segreti, segreto, geheimen,
        geheim, sekrety, tajemnice, segredos, segredo, 秘密, 机密, シークレット
    """,
    ),
    (
        "routines",
        """
        routines, routine, routinen, rutinas, rutina, abitudini, gewoonten, rutyny, rutyna,
        rotinas, rotina, 日常, 惯例, ルーティン, 日課
    """,
    ),
    (
        "schedules",
        """
        schedules, schedule, zeitplane, zeitplan, stundenplan, horaires, horaire, horarios,
        horario, orari, orario, roosters, rooster, harmonogramy, harmonogram, agendas, agenda,
        日程, 时间表, スケジュール, 予定
    """,
    ),
)

ROOM_NAMES: Final = MappingProxyType(
    {name: slug for slug, names in _NAMES for name in _split(names)}
)
