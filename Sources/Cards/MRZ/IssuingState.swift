/// The codes of issuing states and nationalities in machine readable zones (ICAO 9303-3 §5): ISO 3166-1 alpha-3, and
/// further ones. The codes of specimens, such as Utopia's, and of former states are not valid.
enum IssuingState {
    static func isKnown(_ code: String) -> Bool { codes.contains(code) }

    private static let codes = Set((iso + " " + further).split(separator: " ").map(String.init))

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

    /// Germany, the European Union, kinds of British nationality, the United Nations and its agencies, Kosovo, other
    /// organizations, and persons without a nationality.
    private static let further = """
        D EUE GBD GBN GBO GBP GBS UNO UNA UNK RKS XKX IAO XBA XIM XCC XCE XCO XDC XEC XES XMP XMS XOM XPO XXA XXB XXC \
        XXX
        """
}
