import Crypto
import Encoding
import Foundation

/// An `OpticalBarcodeCredential` of a driving licence, parsed from CBOR-LD 1.0. Its shape is fixed. A credential with
/// any other member is not parsed, because a member that is not in ``document`` would change the signed text.
struct SignedCredential: Sendable, Equatable {
    let issuer: String
    /// The DID URL of the key that signed.
    let verificationMethod: String
    /// One bit for each of the elements of ``ProtectedElements/all``, starting with the highest bit. Two bits are
    /// unused.
    let protectedElements: [UInt8]
    /// The document's place in the issuer's lists of revoked documents; `nil` if there is none.
    let status: Status?
    /// The two numbers of the ECDSA signature, 32 bytes each.
    let signature: [UInt8]

    struct Status: Sendable, Equatable {
        let baseURL: String
        let index: UInt64
    }

    /// Parses a credential; `nil` if its table is unknown, or its shape is different.
    init?(_ bytes: [UInt8], tables: [UInt64: CompressionTable] = CompressionTable.known) {
        guard case .tagged(let tag)? = try? CBORReader.read(bytes[...]), tag.number == 0xCB1D,
            let parts = tag.value.elements, parts.count == 2, let table = parts[0].number.flatMap({ tables[$0] })
        else { return nil }
        let document = parts[1]
        let withStatus = Terms(of: table, hasStatus: true)
        let hasStatus = document[withStatus.status] != nil
        let terms = hasStatus ? withStatus : Terms(of: table, hasStatus: false)
        guard document.count == (hasStatus ? 6 : 5), document[Terms.contexts]?.elements == table.contexts,
            document[Terms.types]?.elements == [.unsigned(Terms.credentialType), .unsigned(Terms.barcodeType)],
            let issuer = table.url(document[terms.issuer]),
            let subject = document[terms.subject], subject.count == 2,
            subject[Terms.type]?.number == Terms.subjectType,
            let protectedElements = Self.multibase(subject[Terms.protectedComponentIndex], "u"),
            protectedElements.count == 3, protectedElements[2] & 3 == 0,
            let proof = document[terms.proof], proof.count == 5, proof[Terms.type]?.number == Terms.proofType,
            proof[terms.cryptosuite]?.number == table.cryptosuite,
            proof[terms.proofPurpose]?.number == terms.assertionMethod,
            let method = table.url(proof[terms.verificationMethod]),
            let signature = Self.multibase(proof[terms.proofValue], "z"), signature.count == 64
        else { return nil }
        self.issuer = issuer
        verificationMethod = method
        self.protectedElements = protectedElements
        self.signature = signature
        guard hasStatus else {
            status = nil
            return
        }
        guard let entry = document[terms.status], entry.count == 3, entry[Terms.type]?.number == Terms.statusType,
            let base = table.url(entry[terms.statusBase]), let index = entry[terms.statusIndex]?.number,
            index <= UInt64(UInt32.max)
        else { return nil }
        status = Status(baseURL: base, index: index)
    }

    /// The bytes of a multibase value, which CBOR-LD prefixes with the letter of its base.
    private static func multibase(_ value: CBORValue?, _ base: Unicode.Scalar) -> [UInt8]? {
        guard let bytes = value?.bytes, bytes.first == UInt8(ascii: base) else { return nil }
        return Array(bytes.dropFirst())
    }

    /// Whether a key signed this credential and the protected elements (`ecdsa-xi-2023`). The elements are hashed
    /// twice, because the signature's extra information is itself a digest.
    func isSigned(by key: P256.Signing.PublicKey, over elements: [UInt8]) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
        let extra = SHA256.hash(data: Data(SHA256.hash(data: elements)))
        let signed = [SHA256.hash(data: proofConfiguration), SHA256.hash(data: document), extra].flatMap { Array($0) }
        return key.isValidSignature(signature, for: signed)
    }

    /// The credential without its proof, in canonical N-Quads.
    var document: [UInt8] {
        var graph = CanonicalGraph()
        graph.add(0, Vocabulary.type, .iri(Vocabulary.credentials + "VerifiableCredential"))
        graph.add(0, Vocabulary.type, .iri(Vocabulary.barcodes + "OpticalBarcodeCredential"))
        graph.add(0, Vocabulary.credentials + "issuer", .iri(issuer))
        graph.add(0, Vocabulary.credentials + "credentialSubject", .node(1))
        graph.add(1, Vocabulary.type, .iri(Vocabulary.barcodes + "AamvaDriversLicenseScannableInformation"))
        graph.add(
            1, Vocabulary.barcodes + "protectedComponentIndex",
            .literal("u" + Base64URL.encode(protectedElements), type: Vocabulary.security + "multibase"))
        if let status {
            graph.add(0, Vocabulary.credentials + "credentialStatus", .node(2))
            graph.add(2, Vocabulary.type, .iri(Vocabulary.barcodes + "TerseBitstringStatusListEntry"))
            graph.add(2, Vocabulary.barcodes + "terseStatusListBaseUrl", .iri(status.baseURL))
            graph.add(
                2, Vocabulary.barcodes + "terseStatusListIndex",
                .literal(String(status.index), type: Vocabulary.integer))
        }
        return graph.canonical
    }

    /// The proof without its value, in canonical N-Quads.
    var proofConfiguration: [UInt8] {
        var graph = CanonicalGraph()
        graph.add(0, Vocabulary.type, .iri(Vocabulary.security + "DataIntegrityProof"))
        graph.add(
            0, Vocabulary.security + "cryptosuite",
            .literal("ecdsa-xi-2023", type: Vocabulary.security + "cryptosuiteString"))
        graph.add(0, Vocabulary.security + "proofPurpose", .iri(Vocabulary.security + "assertionMethod"))
        graph.add(0, Vocabulary.security + "verificationMethod", .iri(verificationMethod))
        return graph.canonical
    }

    private enum Vocabulary {
        static let type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
        static let integer = "http://www.w3.org/2001/XMLSchema#integer"
        static let credentials = "https://www.w3.org/2018/credentials#"
        static let barcodes = "https://w3id.org/vc-barcodes#"
        static let security = "https://w3id.org/security#"
    }
}
