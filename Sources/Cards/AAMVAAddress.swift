import Identity

extension AAMVAValues {
    /// The holder's address: DAG to DAK, or the residence of the first edition, DAL to DAP; the country apart.
    mutating func address() -> PostalAddress {
        let first = text(ElementID("DAG"), ElementID("DAL"))
        let second = text(ElementID("DAH"), ElementID("DAM"))
        let lines = [first, second].compactMap { $0 }
        var address = PostalAddress(
            street: lines.isEmpty ? nil : lines.joined(separator: ", "), city: text(ElementID("DAI"), ElementID("DAN")),
            jurisdiction: jurisdictionCode())
        address.postalCode = text(ElementID("DAK"), ElementID("DAP")).flatMap(Self.postalCode)
        return address
    }

    /// The country as USA or CAN; some cards write it in two letters or as a word.
    mutating func country() -> String? {
        guard let written = text(ElementID("DCG")) else { return nil }
        let code =
            switch written.uppercased() {
            case "USA", "US", "U.S.A.", "UNITED STATES": "USA"
            case "CAN", "CA", "CANADA": "CAN"
            default: written.uppercased()
            }
        if code != written || (code != "USA" && code != "CAN") { conformance.note(.countryCode, "DCG") }
        return code
    }

    private mutating func jurisdictionCode() -> String? {
        guard let written = text(ElementID("DAJ"), ElementID("DAO")) else { return nil }
        let code =
            switch written.uppercased() {
            case "PQ": "QC"
            case "NF": "NL"
            case "YK": "YT"
            case let other: other
            }
        if code != written || Jurisdiction.of(code: code) == nil { conformance.note(.jurisdictionCode, "DAJ") }
        return code
    }

    /// Nine digits become `23269-1234`, four zeros or blanks at their end count for nothing; six characters of Canada
    /// become `K1A 0B1`.
    static func postalCode(_ written: String) -> String? {
        let code = written.utf8.map(\.capitalised).filter { $0.isDigit || $0.isCapital }
        guard !code.isEmpty else { return nil }
        func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
        if code.count == 6, code[0].isCapital { return "\(text(code.prefix(3))) \(text(code.suffix(3)))" }
        guard code.count == 9, code.allSatisfy(\.isDigit) else { return text(code) }
        let extra = text(code.suffix(4))
        return extra == "0000" ? text(code.prefix(5)) : "\(text(code.prefix(5)))-\(extra)"
    }
}
