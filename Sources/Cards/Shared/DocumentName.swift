import Domain

/// An identity document as an admin writes it: issuer and number. The kind of card need not be known.
package struct DocumentName: Sendable, Confidential {
    /// The ``CardFingerprint/document`` of each kind of card that can have this number, under each code of its issuer.
    package let fingerprints: [String]

    private init?(country: String?, jurisdiction: String?, number: String) {
        let countries: [String?] = country.map { IssuingState.synonyms(of: $0) } ?? [nil]
        let fingerprints = countries.flatMap { country in
            IdentityCard.Kind.allCases.compactMap { kind -> String? in
                var card = IdentityCard(source: .aamva, kind: kind)
                card.country = country
                card.jurisdiction = jurisdiction
                card.documentNumber = number
                return CardFingerprint(card).document
            }
        }
        guard !fingerprints.isEmpty else { return nil }
        self.fingerprints = fingerprints
    }
}

package extension DocumentName {
    /// Parses `VA:T64235789`: a state, territory or province by its two letters (`US-VA` and `USA-VA` are accepted
    /// too), or a country by its code in machine readable zones (`USA`, `D`). The number follows in any spelling.
    /// `nil` for anything else, also for a code that no zone may have: a ban under it would find no document.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count <= 64 else { return nil }
        let issuer = parts[0].uppercased()
        guard issuer.utf8.count <= 6, issuer.utf8.allSatisfy({ (0x41...0x5A).contains($0) || $0 == 0x2D }) else {
            return nil
        }
        let words = issuer.split(separator: "-", omittingEmptySubsequences: false)
        if let code = words.last, code.utf8.count == 2 {
            guard let jurisdiction = Jurisdiction.of(code: String(code)) else { return nil }
            let short = jurisdiction.country == "MEX" ? "MX" : String(jurisdiction.country.prefix(2))
            let countries = [jurisdiction.country, short]
            guard words.count == 1 || (words.count == 2 && countries.contains(String(words[0]))) else { return nil }
            self.init(country: jurisdiction.country, jurisdiction: jurisdiction.code, number: String(parts[1]))
        } else {
            guard words.count == 1, IssuingState.isKnown(issuer) else { return nil }
            self.init(country: issuer, jurisdiction: nil, number: String(parts[1]))
        }
    }

    /// The document of a shown card; `nil` also if its number was archived and deleted.
    init?(_ facts: CardFacts) {
        guard let number = facts.documentNumber else { return nil }
        self.init(country: facts.country, jurisdiction: facts.jurisdiction, number: number)
    }
}
