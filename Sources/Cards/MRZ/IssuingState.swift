/// The codes of issuing states and nationalities in machine readable zones (ICAO 9303-3 §5): ISO 3166-1 alpha-3, and
/// further ones. The codes of specimens, such as Utopia's, and of former states are not valid.
enum IssuingState {
    static func isKnown(_ code: String) -> Bool { codes.contains(code) }

    /// The code in zones for two letters of ISO 3166-1; `nil` if there is none. Germany's zones have a code of their own.
    static func code(alpha2: String) -> String? { alpha2 == "DE" ? "D" : byAlpha2[alpha2] }

    /// All codes of the issuer that has this code, with the code itself. Germany's documents have `D`, and its ISO code is
    /// `DEU`. Kosovo has `RKS` and `XKX`.
    static func synonyms(of code: String) -> [String] {
        synonyms.first { $0.contains(code) } ?? [code]
    }

    private static let synonyms = [["D", "DEU"], ["RKS", "XKX"]]
    private static let codes = Set((iso + " " + further).split(separator: " ").map(String.init))
    private static let byAlpha2 = Dictionary(
        zip(alpha2.split(separator: " "), iso.split(separator: " ")).map { (String($0), String($1)) }
    ) { first, _ in first }

    private static let iso = """
        ABW AFG AGO AIA ALA ALB AND ARE ARG ARM ASM ATA ATF ATG AUS AUT AZE BDI BEL BEN BES BFA BGD BGR BHR \
        BHS BIH BLM BLR BLZ BMU BOL BRA BRB BRN BTN BVT BWA CAF CAN CCK CHE CHL CHN CIV CMR COD COG COK COL \
        COM CPV CRI CUB CUW CXR CYM CYP CZE DEU DJI DMA DNK DOM DZA ECU EGY ERI ESH ESP EST ETH FIN FJI FLK \
        FRA FRO FSM GAB GBR GEO GGY GHA GIB GIN GLP GMB GNB GNQ GRC GRD GRL GTM GUF GUM GUY HKG HMD HND HRV \
        HTI HUN IDN IMN IND IOT IRL IRN IRQ ISL ISR ITA JAM JEY JOR JPN KAZ KEN KGZ KHM KIR KNA KOR KWT LAO \
        LBN LBR LBY LCA LIE LKA LSO LTU LUX LVA MAC MAF MAR MCO MDA MDG MDV MEX MHL MKD MLI MLT MMR MNE MNG \
        MNP MOZ MRT MSR MTQ MUS MWI MYS MYT NAM NCL NER NFK NGA NIC NIU NLD NOR NPL NRU NZL OMN PAK PAN PCN \
        PER PHL PLW PNG POL PRI PRK PRT PRY PSE PYF QAT REU ROU RUS RWA SAU SDN SEN SGP SGS SHN SJM SLB SLE \
        SLV SMR SOM SPM SRB SSD STP SUR SVK SVN SWE SWZ SXM SYC SYR TCA TCD TGO THA TJK TKL TKM TLS TON TTO \
        TUN TUR TUV TWN TZA UGA UKR UMI URY USA UZB VAT VCT VEN VGB VIR VNM VUT WLF WSM YEM ZAF ZMB ZWE
        """

    /// The two letters of ISO 3166-1 for these states, in this order.
    private static let alpha2 = """
        AW AF AO AI AX AL AD AE AR AM AS AQ TF AG AU AT AZ BI BE BJ BQ BF BD BG BH BS BA BL BY BZ BM BO BR BB \
        BN BT BV BW CF CA CC CH CL CN CI CM CD CG CK CO KM CV CR CU CW CX KY CY CZ DE DJ DM DK DO DZ EC EG ER \
        EH ES EE ET FI FJ FK FR FO FM GA GB GE GG GH GI GN GP GM GW GQ GR GD GL GT GF GU GY HK HM HN HR HT HU \
        ID IM IN IO IE IR IQ IS IL IT JM JE JO JP KZ KE KG KH KI KN KR KW LA LB LR LY LC LI LK LS LT LU LV MO \
        MF MA MC MD MG MV MX MH MK ML MT MM ME MN MP MZ MR MS MQ MU MW MY YT NA NC NE NF NG NI NU NL NO NP NR \
        NZ OM PK PA PN PE PH PW PG PL PR KP PT PY PS PF QA RE RO RU RW SA SD SN SG GS SH SJ SB SL SV SM SO PM \
        RS SS ST SR SK SI SE SZ SX SC SY TC TD TG TH TJ TK TM TL TO TT TN TR TV TW TZ UG UA UM UY US UZ VA VC \
        VE VG VI VN VU WF WS YE ZA ZM ZW
        """

    /// Germany, the European Union, kinds of British nationality, the United Nations and its agencies, Kosovo, other
    /// organizations, and persons without a nationality.
    private static let further = """
        D EUE GBD GBN GBO GBP GBS UNO UNA UNK RKS XKX IAO XBA XIM XCC XCE XCO XDC XEC XES XMP XMS XOM XPO XXA XXB XXC \
        XXX
        """
}
