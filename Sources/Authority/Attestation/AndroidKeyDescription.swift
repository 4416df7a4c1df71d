import Domain
import Encoding
import SwiftASN1

/// The description of a key in its attestation (`KeyDescription` of Android's Key Attestation, 1.3.6.1.4.1.11129.2.1.17).
struct AndroidKeyDescription {
    /// The weaker of the two: that of the attestation, and that of the key.
    let securityLevel: Int
    let challenge: ArraySlice<UInt8>
    /// An identifier of device and app, which only privileged apps can request.
    let uniqueID: ArraySlice<UInt8>
    /// What the operating system says. It is as trustworthy as the boot state.
    let software: Authorizations
    /// What the secure hardware says.
    let hardware: Authorizations

    static let identifier: ASN1ObjectIdentifier = [1, 3, 6, 1, 4, 1, 11_129, 2, 1, 17]

    init(derEncoded bytes: ArraySlice<UInt8>) throws {
        self = try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
            _ = try Int(derEncoded: &nodes)
            let attestation = try Self.enumerated(nodes.next())
            _ = try Int(derEncoded: &nodes)
            let key = try Self.enumerated(nodes.next())
            return AndroidKeyDescription(
                securityLevel: min(attestation, key), challenge: try ASN1OctetString(derEncoded: &nodes).bytes,
                uniqueID: try ASN1OctetString(derEncoded: &nodes).bytes, software: try Authorizations(nodes.next()),
                hardware: try Authorizations(nodes.next()))
        }
    }

    private init(
        securityLevel: Int, challenge: ArraySlice<UInt8>, uniqueID: ArraySlice<UInt8>, software: Authorizations,
        hardware: Authorizations
    ) {
        self.securityLevel = securityLevel
        self.challenge = challenge
        self.uniqueID = uniqueID
        self.software = software
        self.hardware = hardware
    }

    fileprivate static func enumerated(_ node: ASN1Node?) throws -> Int {
        guard let node else { throw ASN1Error.truncatedASN1Field() }
        return try Int(derEncoded: node, withIdentifier: .enumerated)
    }
}

extension AndroidKeyDescription {
    /// An `AuthorizationList`: values by their tags.
    struct Authorizations {
        private let values: [UInt: ASN1Node]

        fileprivate init(_ node: ASN1Node?) throws {
            guard let node else { throw ASN1Error.truncatedASN1Field() }
            values = try DER.sequence(node, identifier: .sequence) { nodes in
                var values: [UInt: ASN1Node] = [:]
                while let item = nodes.next() {
                    let tag = item.identifier.tagNumber
                    let value = try DER.explicitlyTagged(item, tagNumber: tag, tagClass: .contextSpecific) { $0 }
                    guard values.updateValue(value, forKey: tag) == nil else {
                        throw ASN1Error.invalidASN1Object(reason: "a tag is repeated")
                    }
                }
                return values
            }
        }
    }

    /// `RootOfTrust`: how the device started.
    struct Boot {
        let isLocked: Bool
        /// 0 if the maker's system was verified.
        let state: Int
    }

    /// `AttestationApplicationId`: the apps that may use the key. More than one share a user id, and their signer.
    struct Application {
        let packages: [ArraySlice<UInt8>]
        let certificates: [ArraySlice<UInt8>]
    }
}

extension AndroidKeyDescription.Authorizations {
    /// The tags of brand, device, product, serial number, IMEI, MEID, manufacturer, model and second IMEI.
    private static let identifiers: [UInt] = Array(710...717) + [723]

    /// The purposes of the key; empty if there are none.
    var purposes: [Int] { get throws { try values[1].map { try Self.elements($0) { try Int(derEncoded: $0) } } ?? [] } }

    /// 0 if the key was generated in the hardware.
    var origin: Int? { get throws { try values[702].map { try Int(derEncoded: $0) } } }

    /// Year and month of the system's security patches, such as 202603.
    var patchLevel: Int? { get throws { try values[706].map { try Int(derEncoded: $0) } } }

    /// Whether every app of the device may use the key.
    var isForAllApplications: Bool { values[600] != nil }

    var hasIdentifiers: Bool { Self.identifiers.contains { values[$0] != nil } }

    var boot: AndroidKeyDescription.Boot? {
        get throws {
            try values[704].map { node in
                try DER.sequence(node, identifier: .sequence) { nodes in
                    _ = try ASN1OctetString(derEncoded: &nodes)
                    let isLocked = try Bool(derEncoded: &nodes)
                    let boot = AndroidKeyDescription.Boot(
                        isLocked: isLocked, state: try AndroidKeyDescription.enumerated(nodes.next()))
                    // The digest of the system, since version 3.
                    _ = nodes.next()
                    return boot
                }
            }
        }
    }

    var application: AndroidKeyDescription.Application? {
        get throws {
            try values[709].map { node in
                let bytes = try ASN1OctetString(derEncoded: node).bytes
                return try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
                    guard let packages = nodes.next(), let certificates = nodes.next() else {
                        throw ASN1Error.truncatedASN1Field()
                    }
                    return AndroidKeyDescription.Application(
                        packages: try Self.elements(packages) { package in
                            try DER.sequence(package, identifier: .sequence) { nodes in
                                let name = try ASN1OctetString(derEncoded: &nodes).bytes
                                _ = try Int(derEncoded: &nodes)
                                return name
                            }
                        },
                        certificates: try Self.elements(certificates) { try ASN1OctetString(derEncoded: $0).bytes })
                }
            }
        }
    }

    /// The elements of a set in the order of their bytes or any other: not every key store sorts them.
    private static func elements<Element>(
        _ node: ASN1Node, _ read: (ASN1Node) throws -> Element
    ) throws -> [Element] {
        guard node.identifier == .set, case .constructed(let nodes) = node.content else {
            throw ASN1Error.unexpectedFieldType(node.identifier)
        }
        return try nodes.map(read)
    }
}
