/// Names that replace each other in daily life: nicknames, and spellings of names from other scripts. With them a
/// difference between card and account is less significant. They never make two cards one person's.
enum NameVariants {
    /// Whether two given names can be the same name: one is a nickname, or another spelling.
    static func areGivenNames(_ one: String, _ other: String) -> Bool {
        if areSpellings(one, other) { return true }
        guard let groups = nicknames[one], let others = nicknames[other] else { return false }
        return !groups.isDisjoint(with: others)
    }

    /// Whether two words can be one name from another script, such as ALEKSEY and ALEXEI.
    static func areSpellings(_ one: String, _ other: String) -> Bool {
        if one == other { return true }
        if let groups = romanizations[one], let others = romanizations[other], !groups.isDisjoint(with: others) {
            return true
        }
        return one.utf8.count >= 3 && other.utf8.count >= 3 && key(one) == key(other)
    }

    /// A name in a form that does not differ between systems of transliteration. Doubled letters become one.
    private static func key(_ name: String) -> [UInt8] {
        let bytes = Array(name.utf8)
        var key: [UInt8] = []
        var position = 0
        func put(_ letters: some Sequence<UInt8>) {
            for letter in letters where letter != key.last { key.append(letter) }
        }
        while position < bytes.count {
            let rest = bytes[position...]
            if let (written, common) = replacements[bytes[position]]?.first(where: { rest.starts(with: $0.0) }) {
                put(common)
                position += written.count
            } else {
                put(CollectionOfOne(bytes[position]))
                position += 1
            }
        }
        return key
    }

    /// The replacements by their first letter, the longest first.
    private static let replacements: [UInt8: [([UInt8], [UInt8])]] = Dictionary(
        grouping: systems.map { (Array($0.0.utf8), Array($0.1.utf8)) }.sorted { $0.0.count > $1.0.count }
    ) { $0.0.first ?? 0 }

    /// The spellings of one sound in the systems of passports, of the US Board on Geographic Names, and of ISO 9.
    private static let systems: [(String, String)] = [
        ("SHCH", "SC"), ("TSCH", "CH"), ("SCH", "SH"), ("TCH", "CH"), ("IYA", "IA"), ("OFF", "OV"), ("KH", "H"),
        ("ZH", "J"), ("TZ", "TS"), ("CZ", "CH"), ("SZ", "SH"), ("KS", "X"), ("PH", "F"), ("CK", "K"), ("OU", "U"),
        ("OO", "U"), ("EE", "I"), ("YA", "IA"), ("YU", "IU"), ("JU", "IU"), ("YE", "E"), ("YO", "IO"), ("EY", "I"),
        ("EI", "I"), ("EJ", "I"), ("AY", "AI"), ("AJ", "AI"), ("IY", "I"), ("IJ", "I"), ("Y", "I"), ("W", "V"),
        ("Q", "K"),
    ]

    /// Each line has the spellings of one name.
    private static let romanizations = groups(
        """
        MOHAMMED MUHAMMAD MOHAMED MOHAMMAD MOHAMAD MUHAMMED MEHMET MUHAMED
        YUSUF YOUSSEF YOUSEF YUSEF YOUSUF
        AHMED AHMAD AHMET AHMAT
        HUSSEIN HUSAYN HUSSAIN HOSSEIN HUSEYIN
        OMAR UMAR OMER
        ABDALLAH ABDULLAH ABDALLA ABDULLA
        FATIMA FATMA FATIMAH
        AISHA AYESHA AICHA AYSE
        LEE YI RHEE
        PARK PAK BAK
        KIM GIM
        CHOI CHOE
        CHUNG JUNG JEONG CHONG
        LIM IM YIM RIM
        ZHANG CHANG CHEUNG
        WANG WONG
        CHEN CHAN TAN
        LIN LAM
        HUANG WONG HWANG
        XU HSU
        CAI TSAI CHOI
        ZHOU CHOU CHOW
        ZHAO CHAO
        ZHENG CHENG
        XIE HSIEH TSE
        LI LEE LY
        LIU LAU LIEW
        YE YEH IP
        OLEKSANDR ALEKSANDR ALEXANDER ALEXANDR
        OLEKSIY ALEKSEY ALEXEI ALEXEY ALEKSEI
        MYKOLA NIKOLAI NIKOLAY
        VOLODYMYR VLADIMIR
        DMYTRO DMITRY DMITRI DMITRIY
        SERHIY SERHII SERGEY SERGEI
        ANDRIY ANDRII ANDREY ANDREI
        OLENA ELENA YELENA
        YEVHEN EVGENY YEVGENY EVGENII
        """)

    /// Each line has a name and its nicknames. A nickname may be on several lines.
    private static let nicknames = groups(
        """
        ABIGAIL ABBY GAIL
        ABRAHAM ABE BRAM
        ALBERT AL BERT BERTIE
        ALEXANDER ALEX AL SASHA SANDY XANDER LEX
        ALEXANDRA ALEX SANDRA SASHA LEXI ALEXA
        ALFRED AL FRED ALFIE
        ANDREW ANDY DREW
        ANTHONY TONY ANT
        ARTHUR ART ARTIE
        BARBARA BARB BABS BOBBIE
        BENJAMIN BEN BENNY BENJI
        CAROLINE CARRIE CAROL LINA
        CATHERINE CATHY CATE CAT KATE KATIE KATHY KITTY
        CHARLES CHARLIE CHUCK CHAS CHAZ
        CHRISTINA CHRISTINE CHRIS CHRISSY TINA CHRISTY
        CHRISTOPHER CHRIS KIT TOPHER
        CYNTHIA CINDY
        DANIEL DAN DANNY
        DAVID DAVE DAVEY
        DEBORAH DEBRA DEB DEBBIE
        DONALD DON DONNY
        DOROTHY DOT DOTTIE DOLLY
        EDWARD ED EDDIE TED NED TEDDY
        ELEANOR ELLIE NELL NORA
        ELIZABETH LIZ BETH BETTY LIZZIE ELIZA BESS LISA ELISE LIBBY BETSY
        EMILY EM EMMY
        ERNEST ERNIE
        EUGENE GENE
        FRANCES FRAN FRANNIE
        FRANCIS FRANK FRAN
        FRANCISCO PACO PANCHO
        FRANKLIN FRANK
        FREDERICK FRED FREDDY RICK
        GABRIEL GABE
        GABRIELLE GABBY
        GERALD GERRY JERRY
        GREGORY GREG
        GUILLERMO MEMO
        HAROLD HAL HARRY
        HENRY HANK HARRY HAL
        IGNACIO NACHO
        ISABELLA ISABEL BELLA IZZY
        JACOB JAKE
        JACQUELINE JACKIE
        JAMES JIM JIMMY JAMIE
        JEFFREY JEFF
        JENNIFER JEN JENNY
        JESSICA JESS JESSIE
        JOHN JACK JOHNNY JON
        JONATHAN JON JONNY
        JOSE PEPE CHEPE
        JOSEPH JOE JOEY
        JOSHUA JOSH
        JUDITH JUDY
        KATHERINE KATHRYN KATE KATIE KATHY KAT KITTY KAY
        KENNETH KEN KENNY
        LAWRENCE LARRY
        LEONARD LEN LEO LENNY
        MARGARET MAGGIE PEGGY MEG GRETA MARGE RITA MARGIE
        MARTHA MARTY PATTY
        MARY MOLLY POLLY MAE MAMIE
        MATTHEW MATT MATTY
        MICHAEL MIKE MICK MICKEY MIKEY MISHA
        MIKHAIL MISHA MIKE MICHAEL
        NANCY NAN ANN
        NATHANIEL NATHAN NATE NAT
        NICHOLAS NICK NICKY KLAUS
        PAMELA PAM
        PATRICIA PAT PATTY TRISH TRICIA
        PATRICK PAT PADDY
        PETER PETE
        PHILIP PHILLIP PHIL
        RAYMOND RAY
        REBECCA BECKY BECCA
        RICHARD RICK DICK RICH RICKY RICHIE
        ROBERT BOB ROB BOBBY ROBBIE BERT
        RONALD RON RONNIE
        SAMANTHA SAM SAMMIE
        SAMUEL SAM SAMMY
        SARAH SALLY SADIE
        STEPHANIE STEPH
        STEPHEN STEVEN STEVE
        SUSAN SUE SUSIE
        THEODORE TED THEO TEDDY
        THERESA TERRY TESS TERESA
        THOMAS TOM TOMMY
        TIMOTHY TIM TIMMY
        VICTORIA VICKY TORI
        VINCENT VINCE VINNY
        VIRGINIA GINNY GINGER
        WALTER WALT WALLY
        WILLIAM BILL WILL BILLY WILLIE LIAM
        ZACHARY ZACH ZACK
        """)

    /// The numbers of the lines that contain each name.
    private static func groups(_ text: String) -> [String: Set<Int>] {
        var lines: [String: Set<Int>] = [:]
        for (number, line) in text.split(separator: "\n").enumerated() {
            for name in line.split(separator: " ") { lines[String(name), default: []].insert(number) }
        }
        return lines
    }
}
