import Domain

extension AAMVAValues {
    /// The holder's address, DAG to DAK, without the country. Missing parts are taken from the first edition's
    /// residence, DAL to DAP.
    mutating func address() -> PostalAddress {
        let isMailing = text(ElementID("DAG")) != nil
        let lines = [
            text(isMailing ? ElementID("DAG") : ElementID("DAL")),
            text(isMailing ? ElementID("DAH") : ElementID("DAM")),
        ].compactMap { $0 }
        var address = PostalAddress(
            street: lines.isEmpty ? nil : lines.joined(separator: ", "), city: text(ElementID("DAI"), ElementID("DAN")),
            jurisdiction: jurisdictionCode())
        address.postalCode = postalCode()
        return address
    }

    /// The country as USA, CAN or MEX, or as the card writes it; `nil` for any other text. Some cards write it as a
    /// word, or repeat the issuer's code.
    mutating func country(issuer: Issuer?) -> String? {
        guard let written = text(ElementID("DCG"))?.uppercased() else { return nil }
        let code: String? =
            switch written {
            case "USA", "US", "U.S.A.", "U.S.", "UNITED STATES", "UNITED STATES OF AMERICA": "USA"
            case issuer?.jurisdiction?.code: nil
            case "CAN", "CA", "CANADA": "CAN"
            case "MEX", "MX", "MEXICO": "MEX"
            default:
                Jurisdiction.of(code: written)?.country
                    ?? ((2...3).contains(written.utf8.count) && written.utf8.allSatisfy(\.isCapital) ? written : nil)
            }
        if code != written || !["USA", "CAN", "MEX"].contains(code) { conformance.note(.countryCode, "DCG") }
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
        if code != written || PostalArea.of(code) == nil { conformance.note(.jurisdictionCode, "DAJ") }
        return code
    }

    private mutating func postalCode() -> String? {
        guard let written = text(ElementID("DAK"), ElementID("DAP")) else { return nil }
        guard let code = PostalArea.code(written) else {
            conformance.note(.postalCode, "DAK")
            return written
        }
        return code
    }
}
