extension Jurisdiction {
    /// All jurisdictions: 50 states, the District of Columbia, five territories, 13 provinces and territories of
    /// Canada, and the two states of Mexico that have a number from AAMVA.
    ///
    /// Issuer numbers are AAMVA's assignments, postal areas those of USPS and Canada Post. The number formats come from
    /// published tables that are older than today's cards. So they are a hint, never a reason to reject a card.
    static let all: [Jurisdiction] = states + territories + provinces + mexican

    private static let states: [Jurisdiction] = [
        Jurisdiction("AL", 636033, "USA", postal: "350-369", numbers: "D1-8"),
        Jurisdiction("AK", 636059, "USA", postal: "995-999", numbers: "D1-7"),
        Jurisdiction("AZ", 636026, "USA", postal: "850-865", numbers: "L1D8 D9"),
        Jurisdiction("AR", 636021, "USA", postal: "716-729", numbers: "D4-9"),
        Jurisdiction("CA", 636014, "USA", postal: "900-961", numbers: "L1D7"),
        Jurisdiction("CO", 636020, "USA", postal: "800-816", numbers: "D9 L1D1-6 L2D2-5"),
        Jurisdiction("CT", 636006, "USA", postal: "060-069", numbers: "D9"),
        Jurisdiction("DE", 636011, "USA", postal: "197-199", numbers: "D1-7"),
        Jurisdiction("DC", 636043, "USA", postal: "200-205 569", numbers: "D7 D9"),
        Jurisdiction("FL", 636010, "USA", postal: "320-339 341-349", numbers: "L1D12"),
        Jurisdiction("GA", 636055, "USA", postal: "300-319 398-399", numbers: "D7-9"),
        Jurisdiction("HI", 636047, "USA", postal: "967-968", numbers: "L1D8 D9"),
        Jurisdiction("ID", 636050, "USA", postal: "832-838", numbers: "L2D6L1 D9"),
        Jurisdiction("IL", 636035, "USA", postal: "600-629", numbers: "L1D11 D11L1 L1D12"),
        Jurisdiction("IN", 636037, "USA", postal: "460-479", numbers: "D10 L1D9 D9"),
        Jurisdiction("IA", 636018, "USA", postal: "500-528", numbers: "D3L2D4 D9"),
        Jurisdiction("KS", 636022, "USA", postal: "660-679", numbers: "L1D8 L1D1L1D1L1 D9"),
        Jurisdiction("KY", 636046, "USA", postal: "400-427", numbers: "L1D8-9 D9"),
        Jurisdiction("LA", 636007, "USA", postal: "700-714", numbers: "D1-9"),
        Jurisdiction("ME", 636041, "USA", postal: "039-049", numbers: "D7 D7L1 D8"),
        Jurisdiction("MD", 636003, "USA", postal: "205-219", numbers: "L1D12 L2D11"),
        Jurisdiction("MA", 636002, "USA", postal: "010-027 055", numbers: "L1D8 L2D7 D9"),
        Jurisdiction("MI", 636032, "USA", postal: "480-499", numbers: "L1D12 L1D10"),
        Jurisdiction("MN", 636038, "USA", postal: "550-567", numbers: "L1D12"),
        Jurisdiction("MS", 636051, "USA", postal: "386-397", numbers: "D9"),
        Jurisdiction("MO", 636030, "USA", postal: "630-658 726", numbers: "L1D5-9 L1D6L1 D3L1D6 D8L2 D9L1 D9"),
        Jurisdiction("MT", 636008, "USA", postal: "590-599", numbers: "D13-14 L1D8 D9"),
        Jurisdiction("NE", 636054, "USA", postal: "680-693", numbers: "L1D3-8"),
        Jurisdiction("NV", 636049, "USA", postal: "889-898", numbers: "D10 D12 D9 L1D8"),
        Jurisdiction("NH", 636039, "USA", postal: "030-038", numbers: "D2L3D5 L3D8"),
        Jurisdiction("NJ", 636036, "USA", postal: "070-089", numbers: "L1D14"),
        Jurisdiction("NM", 636009, "USA", postal: "870-884", numbers: "D9 D8"),
        Jurisdiction("NY", 636001, "USA", postal: "005 063 100-149", numbers: "D9 L1D7 L1D18 D8 D16 L8"),
        Jurisdiction("NC", 636004, "USA", postal: "270-289", numbers: "D1-12"),
        Jurisdiction("ND", 636034, "USA", postal: "580-588", numbers: "L3D6 D9"),
        Jurisdiction("OH", 636023, "USA", postal: "430-459", numbers: "L2D6 L1D4-8 L2D3-7 D8"),
        Jurisdiction("OK", 636058, "USA", postal: "730-749", numbers: "L1D9 D9"),
        Jurisdiction("OR", 636029, "USA", postal: "970-979", numbers: "D1-9 L1D6 L2D5"),
        Jurisdiction("PA", 636025, "USA", postal: "150-196", numbers: "D8"),
        Jurisdiction("RI", 636052, "USA", postal: "028-029", numbers: "D7-8 L1D6"),
        Jurisdiction("SC", 636005, "USA", postal: "290-299", numbers: "D5-11"),
        Jurisdiction("SD", 636042, "USA", postal: "570-577", numbers: "D6-10 D12"),
        Jurisdiction("TN", 636053, "USA", postal: "370-385", numbers: "D7-9"),
        Jurisdiction("TX", 636015, "USA", postal: "733 739 750-799 885", numbers: "D7-8"),
        Jurisdiction("UT", 636040, "USA", postal: "840-847", numbers: "D4-10"),
        Jurisdiction("VT", 636024, "USA", postal: "050-059", numbers: "D8 D7L1"),
        Jurisdiction("VA", 636000, "USA", postal: "201 205 220-246", numbers: "L1D8-11 D9 D12"),
        Jurisdiction("WA", 636045, "USA", postal: "980-994", numbers: "X12"),
        Jurisdiction("WV", 636061, "USA", postal: "247-268", numbers: "L1D6 L1-2D5-6 D7"),
        Jurisdiction("WI", 636031, "USA", postal: "530-549", numbers: "L1D13"),
        Jurisdiction("WY", 636060, "USA", postal: "820-831 834", numbers: "D9-10"),
    ]

    private static let territories: [Jurisdiction] = [
        Jurisdiction("AS", 604427, "USA", postal: "967", numbers: ""),
        Jurisdiction("GU", 636019, "USA", postal: "969", numbers: ""),
        Jurisdiction("MP", 604430, "USA", postal: "969", numbers: ""),
        Jurisdiction("PR", 604431, "USA", postal: "006-007 009", numbers: "D7 D5-6 D9"),
        Jurisdiction("VI", 636062, "USA", postal: "008", numbers: ""),
    ]

    private static let mexican: [Jurisdiction] = [
        Jurisdiction("CU", 636056, "MEX", postal: "", numbers: ""),
        Jurisdiction("HL", 636057, "MEX", postal: "", numbers: ""),
    ]

    private static let provinces: [Jurisdiction] = [
        Jurisdiction("AB", 604432, "CAN", postal: "T", numbers: "D5-9"),
        Jurisdiction("BC", 636028, "CAN", postal: "V", numbers: "D7-8"),
        Jurisdiction("MB", 636048, "CAN", postal: "R", numbers: "X12"),
        Jurisdiction("NB", 636017, "CAN", postal: "E", numbers: "D5-7"),
        Jurisdiction("NL", 636016, "CAN", postal: "A", numbers: "L1D9"),
        Jurisdiction("NS", 636013, "CAN", postal: "B", numbers: "L5D9"),
        Jurisdiction("NT", 604434, "CAN", postal: "X", numbers: "D6"),
        Jurisdiction("NU", 604433, "CAN", postal: "X", numbers: "D5-6"),
        Jurisdiction("ON", 636012, "CAN", postal: "K L M N P", numbers: "L1D14"),
        Jurisdiction("PE", 604426, "CAN", postal: "C", numbers: "D1-6"),
        Jurisdiction("QC", 604428, "CAN", postal: "G H J", numbers: "L1D12"),
        Jurisdiction("SK", 636044, "CAN", postal: "S", numbers: "D8"),
        Jurisdiction("YT", 604429, "CAN", postal: "Y", numbers: "D1-6"),
    ]
}
