import Encoding

/// The stored data of an evaluated card: for the user's row and for display to the holder.
package struct CardFacts: Sendable, Equatable, Confidential {
    /// The form that the card was read from.
    package let source: IdentityCard.Source
    /// What kind of document it is.
    package let kind: IdentityCard.Kind
    /// The holder's name, of which at least one part is not `nil`.
    package let name: PersonName
    package let dateOfBirth: CalendarDate
    /// Where the holder lives; `nil` if the card does not say, or if the address was purged.
    package private(set) var address: PostalAddress?
    /// The normalised document number; `nil` if it was dropped after the card was archived.
    package private(set) var documentNumber: String?
    /// The blind indexes by which bans still match a document whose number was dropped. There is one for each kind of
    /// card that can have the number, under each version of the index key. Empty while the number is stored.
    package private(set) var documentIndexes: [DocumentIndex] = []
    /// The last characters of the number, which may be shown.
    package let lastFour: String
    /// The issuing state, territory or province.
    package let jurisdiction: String?
    /// The issuing country, ISO 3166-1 alpha-3.
    package let country: String?
    /// The last day of validity.
    package let expiresOn: CalendarDate
    /// The issuer's signature, if the barcode carries one.
    package private(set) var issuerSignature: IssuerSignature

    /// `nil` if the card lacks a mandatory element, which a hard check reports too.
    package init?(_ card: IdentityCard) {
        guard let dateOfBirth = card.dateOfBirth, let expiresOn = card.expiresOn, !card.name.full.isEmpty,
            !card.normalisedNumber.isEmpty
        else { return nil }
        source = card.source
        kind = card.kind
        // The comparison with the account's name needs to know whether the card's name was cut off.
        name = PersonName(
            family: card.name.family, given: card.name.given, middle: card.name.middle, suffix: card.name.suffix)
        self.dateOfBirth = dateOfBirth
        address = card.address
        documentNumber = card.normalisedNumber
        lastFour = card.lastFour
        jurisdiction = card.jurisdiction
        country = card.country
        self.expiresOn = expiresOn
        issuerSignature = card.issuerSignature
    }
}

package extension CardFacts {
    /// A document's blind index, and the version of its key.
    struct DocumentIndex: Sendable, Hashable {
        package let version: Int
        package let digest: Digest256

        package init(version: Int, digest: Digest256) {
            self.version = version
            self.digest = digest
        }

        /// Parses ``text``; `nil` for anything else.
        init?(_ text: String) {
            let parts = text.split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 2, let version = Int(parts[0]), let bytes = Base64URL.decode(parts[1].utf8),
                let digest = Digest256(bytes)
            else { return nil }
            self.init(version: version, digest: digest)
        }

        /// The form that is encrypted.
        var text: String { "\(version) \(digest.base64URL)" }
    }

    /// The holder's name in the order of speech.
    var fullName: String { name.full }

    /// The form that is encrypted.
    var jsonText: String {
        func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }
        let indexes = JSONValue.array(documentIndexes.map { .string($0.text) })
        return JSONValue.object([
            "source": text(source.rawValue), "kind": text(kind.rawValue),
            "family_name": text(name.family), "given_name": text(name.given), "middle_name": text(name.middle),
            "name_suffix": text(name.suffix), "date_of_birth": text(dateOfBirth.text),
            "street": text(address?.street), "city": text(address?.city),
            "address_jurisdiction": text(address?.jurisdiction), "postal_code": text(address?.postalCode),
            "address_country": text(address?.country), "document_number": text(documentNumber),
            "last_four": text(lastFour), "jurisdiction": text(jurisdiction), "country": text(country),
            "expires_on": text(expiresOn.text), "document_indexes": documentIndexes.isEmpty ? nil : indexes,
            "issuer_signature": text(issuerSignature.state.rawValue),
            "signed_credential": text(issuerSignature.credential.map { Base64URL.encode($0) }),
        ]).jsonText
    }

    /// Parses ``jsonText``; `nil` for anything else.
    init?(jsonText: String) {
        guard let value = try? StrictJSON.parse(Array(jsonText.utf8)),
            let source = value["source"]?.text.flatMap(IdentityCard.Source.init),
            let kind = value["kind"]?.text.flatMap(IdentityCard.Kind.init),
            let dateOfBirth = value["date_of_birth"]?.text.flatMap({ CalendarDate($0) }),
            let lastFour = value["last_four"]?.text,
            let expiresOn = value["expires_on"]?.text.flatMap({ CalendarDate($0) })
        else { return nil }
        let name = PersonName(
            family: value["family_name"]?.text, given: value["given_name"]?.text, middle: value["middle_name"]?.text,
            suffix: value["name_suffix"]?.text)
        guard name != PersonName() else { return nil }
        let address = PostalAddress(
            street: value["street"]?.text, city: value["city"]?.text,
            jurisdiction: value["address_jurisdiction"]?.text, postalCode: value["postal_code"]?.text,
            country: value["address_country"]?.text)
        self.source = source
        self.kind = kind
        self.name = name
        self.dateOfBirth = dateOfBirth
        self.address = address == PostalAddress() ? nil : address
        documentNumber = value["document_number"]?.text
        if case .array(let indexes)? = value["document_indexes"] {
            documentIndexes = indexes.compactMap { $0.text.flatMap { DocumentIndex($0) } }
        }
        self.lastFour = lastFour
        jurisdiction = value["jurisdiction"]?.text
        country = value["country"]?.text
        self.expiresOn = expiresOn
        // Cards from an earlier version have no such field.
        issuerSignature = IssuerSignature(
            value["issuer_signature"]?.text.flatMap(IssuerSignature.State.init) ?? IssuerSignature.State.none,
            credential: value["signed_credential"]?.text.flatMap { Base64URL.decode($0) })
    }

    /// A copy without the dropped data.
    ///
    /// - Parameter indexes: the blind indexes that replace the number, if it is dropped now.
    func without(_ dropped: Set<ArchivedDatum>, keeping indexes: [DocumentIndex]) -> CardFacts {
        var facts = self
        if dropped.contains(.postalAddress) { facts.address = nil }
        if dropped.contains(.documentNumber), documentNumber != nil {
            facts.documentNumber = nil
            facts.documentIndexes = indexes
            facts.issuerSignature = IssuerSignature(issuerSignature.state)
        }
        return facts
    }
}
