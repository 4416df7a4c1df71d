"""Names of invented people of many peoples, as the generators of cards combine them. Common names, put together at random."""

# People: names of men, names of women, family names. Each has the letters that cards of its countries print.
PEOPLES = {
    "english": ("JAMES ROBERT JOHN OLIVER GEORGE HENRY", "MARY MARGARET GRACE EMMA ALICE RUTH",
                "BAKER TURNER WALKER HUGHES O'BRIEN MCDONALD FLETCHER REED"),
    "spanish": ("DIEGO CARLOS LUIS JAVIER PABLO", "LUCIA CARMEN ELENA SOFIA INES", "GARCIA LOPEZ NAVARRO ORTEGA IBANEZ VEGA"),
    "portuguese": ("JOAO TIAGO RUI PEDRO", "ANA BEATRIZ INES RITA", "SILVA PEREIRA CARVALHO NUNES TEIXEIRA"),
    "french": ("HUGO LOUIS ANTOINE MATHIS", "CHLOE CAMILLE MANON JULIE", "DUBOIS MOREAU LEFEBVRE GIRARD FONTAINE"),
    "german": ("LUKAS JONAS FELIX JUERGEN", "HANNAH LENA KLARA GRETA", "MUELLER SCHAEFER WEBER KRUEGER VOGEL"),
    "dutch": ("DAAN SEM LARS", "SANNE FEMKE LOTTE", "JANSEN DEKKER VISSER BAKKER"),
    "nordic": ("ERIK LARS ANDERS JOHAN", "INGRID FREJA ASTRID KAISA", "ANDERSSON NIELSEN HANSEN LINDQVIST VIRTANEN"),
    "slavic": ("IVAN PAVEL MAREK TOMASZ", "OLGA KATARZYNA DARINA PETRA", "KOWALSKI NOVAK HORVAT PETROV KOVAC"),
    "baltic": ("MARTIN RASMUS JONAS", "LIIS RUTA DACE", "TAMM SAAR KAZLAUSKAS OZOLS"),
    "romanian": ("ANDREI MIHAI STEFAN", "IOANA ELENA RALUCA", "POPESCU IONESCU RADU DUMITRU"),
    "italian": ("MARCO LUCA GIOVANNI", "GIULIA CHIARA SARA", "ROSSI BIANCHI RUSSO CONTI"),
    "greek": ("GEORGIOS NIKOLAOS", "MARIA ELENI", "PAPADOPOULOS GEORGIOU VLACHOS"),
    "turkish": ("MEHMET EMRE CAN", "AYSE ELIF ZEYNEP", "YILMAZ DEMIR KAYA CELIK"),
    "arabic": ("OMAR YUSUF ALI", "AISHA FATIMA LEILA", "KHAN HADDAD AL-MASRI MANSOUR"),
    "indian": ("ARJUN ROHAN VIKRAM", "PRIYA ANJALI MEERA", "PATEL SHARMA REDDY IYER"),
    "chinese": ("WEI JUN HAO", "LI MEI XIAO", "WANG ZHANG LIU CHEN NG"),
    "korean": ("MINJUN JIHO", "SEOYEON JIWOO", "KIM PARK CHOI"),
    "japanese": ("HARUTO YUTO", "YUI SAKURA", "TANAKA SUZUKI SATO"),
    "vietnamese": ("MINH DUC", "LINH THU", "NGUYEN TRAN PHAM"),
    "nigerian": ("CHIDI EMEKA", "AMARA NGOZI", "OKAFOR ADEYEMI BALOGUN"),
    "hawaiian": ("KAI KEONI", "LEILANI MALIA", "KEALOHA KAHALE KA'AI"),
    "navajo": ("DELBERT LEROY", "DARLENE VERNA", "BEGAY TSOSIE YAZZIE"),
    "filipino": ("JOSE MARK", "MARICEL JOY", "DELA CRUZ,REYES,SANTOS"),
}
AMERICAN = [
    "english", "english", "english", "spanish", "spanish", "german", "italian", "slavic", "arabic", "indian", "chinese", "korean",
    "japanese", "vietnamese", "nigerian", "hawaiian", "navajo", "filipino", "french", "portuguese", "greek",
]


def words(text):
    return text.split(",") if "," in text else text.split()


def names(source, people, sex):
    """Family name, given name and middle names of someone of a people; `sex` is `M`, `F` or `X`."""
    men, women, families = (words(part) for part in PEOPLES[people])
    given = men if sex == "M" else women if sex == "F" else men + women
    family = source.choice(families)
    if people in ("spanish", "portuguese") and source.random() < 0.6:
        family += " " + source.choice(families)
    elif people == "english" and source.random() < 0.04:
        family += "-" + source.choice(families)
    first = source.choice(given)
    others = [name for name in given if name != first]
    middle = [source.choice(others)] if others and source.random() < 0.5 else []
    return family, first, middle
