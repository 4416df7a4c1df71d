import Domain
import Encoding

/// A mobile document (ISO/IEC 18013-5) as a wallet presents it, parsed but not verified.
package struct MobileDocument: Sendable, Confidential {
    /// The document type that the wallet names. The issuer signed another copy of it.
    let type: String
    let issuerSignature: COSESignature
    /// The bytes that the issuer signed, a `MobileSecurityObject`.
    let payload: ArraySlice<UInt8>
    /// The certificates of the issuer's signature in DER, the signer's first. Nothing proves them yet.
    package let certificates: [[UInt8]]
    let security: MobileSecurityObject
    let items: [IssuerSignedItem]
    /// The elements that the device alone states, as received.
    let deviceNameSpaces: CBORTag
    /// Whether the device states any.
    let hasDeviceElements: Bool
    /// The signature of the device; `nil` if the answer has none. A device MAC needs a reader's key, which no request
    /// here has.
    let deviceSignature: COSESignature?
}

package extension MobileDocument {
    /// The longest answer that is read, bytes.
    static let maximumLength = CBORReader.maximumLength

    /// Parses a `DeviceResponse` with one document (§8.3.2.1.2.2).
    ///
    /// - Throws: `PresentationDefect`, mostly `malformed`.
    init(deviceResponse bytes: ArraySlice<UInt8>) throws(PresentationDefect) {
        let response: CBORValue
        do throws(CBORDefect) {
            response = try CBORReader.read(bytes, upTo: Self.maximumLength)
        } catch {
            throw Self.malformed("The answer is not a data item of CBOR: \(ErrorWords.of(error)).")
        }
        guard response["version"]?.text == "1.0" else {
            throw Self.malformed("The version of the DeviceResponse is missing or not 1.0.")
        }
        guard response["status"]?.number == 0 else {
            throw Self.malformed("The wallet reports an error: the status of the DeviceResponse is not 0.")
        }
        let documents = response["documents"]?.elements ?? []
        guard let document = documents.first else {
            throw PresentationDefect.empty("The wallet presents no document.")
        }
        guard documents.count == 1 else {
            throw PresentationDefect(.surplus, "The wallet presents several documents in one DeviceResponse.")
        }
        try self.init(document)
    }

    /// Whether the wallet calls the document's type so.
    func isOfType(_ type: String) -> Bool { self.type.utf8.elementsEqual(type.utf8) }

    private init(_ document: CBORValue) throws(PresentationDefect) {
        guard let type = document["docType"]?.text, let issuerSigned = document["issuerSigned"],
            let issuerAuth = issuerSigned["issuerAuth"]
        else { throw Self.malformed("The document has no docType or no issuerAuth.") }
        guard let deviceSigned = document["deviceSigned"] else {
            throw PresentationDefect(.unbound, "The document has no deviceSigned.")
        }
        guard case .tagged(let nameSpaces)? = deviceSigned["nameSpaces"],
            case .map(let deviceElements)? = deviceSigned["nameSpaces"]?.embedded
        else { throw Self.malformed("The device's nameSpaces is not a map with tag 24.") }
        let issuerSignature = try Self.signature(issuerAuth, "issuerAuth")
        guard let payload = issuerSignature.payload else {
            throw Self.malformed("The issuer's signature has no payload.")
        }
        do throws(COSEDefect) {
            certificates = try issuerSignature.certificates
        } catch {
            throw Self.malformed("The issuerAuth is not valid. \(error.rawValue)")
        }
        self.type = type
        self.issuerSignature = issuerSignature
        self.payload = payload
        security = try MobileSecurityObject(payload)
        items = try IssuerSignedItem.all(in: issuerSigned["nameSpaces"])
        deviceNameSpaces = nameSpaces
        hasDeviceElements = !deviceElements.isEmpty
        deviceSignature = try deviceSigned["deviceAuth"]?["deviceSignature"].map { value throws(PresentationDefect) in
            try Self.signature(value, "deviceSignature")
        }
    }

    private static func signature(_ value: CBORValue, _ name: String) throws(PresentationDefect) -> COSESignature {
        do throws(COSEDefect) {
            return try COSESignature(value)
        } catch {
            throw malformed("The \(name) is not valid. \(error.rawValue)")
        }
    }

    private static func malformed(_ detail: String) -> PresentationDefect { PresentationDefect(.malformed, detail) }
}
