import Foundation

public struct Device: Sendable, Hashable, Codable {
    /// The device's id at the service, the certificate's common name.
    public let id: UUID
    /// The certificate's serial number, hexadecimal.
    public let serial: String
    public let notAfter: Date
    /// The time from which the certificate renews by itself.
    public let renewAfter: Date
}

/// The proof that a service may require before it certifies a device. `certification_gate` in discovery names it.
public enum CertifyProof: Sendable, Hashable {
    case none
    /// A token from the provider's backend.
    case enrolmentToken(String)
    /// The response of a solved captcha.
    case captcha(String)
}

/// A random text of the service that an identity token must carry.
public struct Nonce: Sendable, Hashable, Codable {
    public let value: String
    public let expiresAt: Date

    private enum CodingKeys: String, CodingKey {
        case value = "nonce"
        case expiresAt = "expires_at"
    }
}

/// A user's session on this device.
public struct Session: Sendable, Hashable, Codable {
    public let id: UUID
    public let userID: UUID
    /// `<provider slug>/<external id>`, by which other users may name the user.
    public let address: String
    /// The expiry, unless the session is renewed.
    public let expiresAt: Date
    public let assurance: Assurance

    private enum CodingKeys: String, CodingKey {
        case address, assurance
        case id = "session_id"
        case userID = "user_id"
        case expiresAt = "expires_at"
    }
}

/// The level of a user's proven identity. A later version of the service may have others.
public struct Assurance: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let none = Assurance(rawValue: "none")
    public static let phone = Assurance(rawValue: "phone")
    /// The barcode of a card, without confirmation by its issuer.
    public static let barcode = Assurance(rawValue: "barcode")
    /// A card whose barcode its issuer signed.
    public static let issuerSigned = Assurance(rawValue: "issuer_signed")
    /// A card that its issuer confirmed.
    public static let issuerChecked = Assurance(rawValue: "issuer_checked")
    /// A credential in a wallet: its issuer signed it, and the user's device proved that it holds it.
    public static let credential = Assurance(rawValue: "credential")

    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(rawValue)
    }
}
