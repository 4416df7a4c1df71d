import Cards
import Crypto
import Domain
import Encoding
import Tokens

/// Mutates what wallets and issuers send, the same way for the same seed, and holds their readers to what they promise:
/// what is read is written as long as it was, everything else is refused, and nothing grows beyond its bounds.
package struct WalletMutation: Sendable {
    /// A promise that was broken, with the bytes that did it.
    package struct Broken: Error, CustomStringConvertible {
        package let description: String
    }

    package enum Outcome: Sendable {
        case read, refused
    }

    /// The reader of an input.
    package enum Reader: String, Sendable, CaseIterable {
        case item = "CBOR"
        case signature = "COSE"
        case document = "mobile document"
        case cwt = "status list, CWT"
        case jwt = "status list, JWT"
        case deflated = "compressed list"
        case credential = "SD-JWT"
        case encrypted = "JWE"
        case annexC = "Annex C"

        /// The readers of CBOR that nothing encrypts.
        package static let ofCBOR: [Reader] = [.item, .signature, .document, .cwt]
    }

    private var random: SeededRandom
    private let specimens: [Reader: [UInt8]]
    private let key: ResponseKey

    private struct NoSpecimen: Error {}

    package init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        guard let number = Base64URL.decode(WalletSpecimens.key),
            let response = Base64URL.decode(WalletSpecimens.deviceResponse),
            let signature = try CBORReader.read(response[...])["documents"]?.elements?.first?["issuerSigned"]?[
                "issuerAuth"]
        else { throw NoSpecimen() }
        key = ResponseKey(id: "1", privateKey: try P256.KeyAgreement.PrivateKey(rawRepresentation: number))
        specimens = [
            .item: response, .signature: signature.encoded, .document: response, .cwt: Self.cwt,
            .jwt: Array(Self.jwt.utf8), .deflated: Self.deflated, .credential: Array(WalletSpecimens.credential.utf8),
            .encrypted: Array(WalletSpecimens.encrypted.utf8), .annexC: Array(WalletSpecimens.annexC.utf8),
        ]
    }
}

package extension WalletMutation {
    /// The next input of a reader: its specimen, changed in some places.
    mutating func input(for reader: Reader) -> [UInt8] {
        let specimen = specimen(of: reader)
        var bytes = specimen
        for _ in 0...below(4) {
            guard !bytes.isEmpty else { return specimen }
            let place = below(bytes.count)
            switch below(8) {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
            case 2: bytes[place] = UInt8(truncatingIfNeeded: random.next())
            case 3: bytes.replaceSubrange(place..., with: specimen.suffix(below(200)))
            case 4: bytes.insert(contentsOf: specimen.dropFirst(below(specimen.count)).prefix(below(60)), at: place)
            // The heads of items with long lengths, and those that the readers refuse.
            case 5: bytes[place] = [0x1B, 0x3B, 0x5B, 0x7B, 0x9B, 0xBB, 0x9F, 0xBF, 0xD8, 0xF6, 0xF9, 0xFF][below(12)]
            default: bytes[place] ^= 1 << UInt8(below(8))
            }
        }
        return bytes
    }

    /// The input of a reader before its mutation.
    func specimen(of reader: Reader) -> [UInt8] { specimens[reader] ?? [] }

    /// Gives an input to its reader.
    func read(_ bytes: [UInt8], by reader: Reader) throws(Broken) -> Outcome {
        switch reader {
        case .item:
            guard let value = try? CBORReader.read(bytes[...]) else { return .refused }
            guard value.encoded.count == bytes.count else { throw Self.broken(bytes, "is written in another length") }
            return .read
        case .signature:
            guard let value = try? CBORReader.read(bytes[...]), let message = try? COSESignature(value),
                (try? message.certificates) != nil
            else { return .refused }
            return .read
        case .document:
            return outcome { () throws(PresentationDefect) in _ = try MobileDocument(deviceResponse: bytes[...]) }
        case .cwt: return (try? StatusList(bytes, for: .mobileDocument)) == nil ? .refused : .read
        case .jwt: return (try? StatusList(bytes, for: .selectiveDisclosure)) == nil ? .refused : .read
        case .deflated:
            guard let list = try? Inflate.zlib(bytes[...], upTo: Self.longestList) else { return .refused }
            guard list.count <= Self.longestList else { throw Self.broken(bytes, "is longer than the bound") }
            return .read
        case .credential:
            return outcome { () throws(PresentationDefect) in
                _ = try SelectiveDisclosure(String(decoding: bytes, as: UTF8.self))
            }
        case .encrypted:
            return outcome { () throws(PresentationDefect) in
                _ = try EncryptedResponse.open(String(decoding: bytes, as: UTF8.self), with: key)
            }
        case .annexC:
            return outcome { () throws(PresentationDefect) in
                _ = try AnnexCResponse.open(
                    String(decoding: bytes, as: UTF8.self), with: key, transcript: WalletSpecimens.transcript)
            }
        }
    }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &random) }

    private func outcome(_ read: () throws(PresentationDefect) -> Void) -> Outcome {
        do throws(PresentationDefect) { try read() } catch { return .refused }
        return .read
    }

    private static func broken(_ bytes: [UInt8], _ problem: String) -> Broken {
        Broken(description: "What is read from \(Base64URL.encode(bytes)) \(problem).")
    }
}

/// Lists of statuses.
extension WalletMutation {
    private static let longestList = 1 << 16

    /// A list of zeros, in which each match of DEFLATE's fixed codes (RFC 1951 §3.2.6) repeats 258 of them. So no mutation
    /// of it expands to much more.
    private static let deflated: [UInt8] = {
        var bytes: [UInt8] = [0x78, 0x01]
        var (word, count): (UInt32, Int) = (0, 0)
        func append(_ bit: Int) {
            word |= UInt32(bit) << UInt32(count)
            count += 1
            guard count == 8 else { return }
            bytes.append(UInt8(word))
            (word, count) = (0, 0)
        }
        func append(code: Int, length: Int) { for place in (0..<length).reversed() { append(code >> place & 1) } }
        let matches = 200
        for bit in [1, 1, 0] { append(bit) }
        append(code: 0x30, length: 8)
        for _ in 0..<matches {
            append(code: 0xC5, length: 8)
            append(code: 0, length: 5)
        }
        append(code: 0, length: 7)
        for _ in 0..<7 where bytes.count * 8 < 16 + 18 + matches * 13 { append(0) }
        // Adler-32 of zeros: 1 in its lower half, their number in the upper.
        let total = UInt16(matches * 258 + 1)
        return bytes + [UInt8(total >> 8), UInt8(total & 255), 0, 1]
    }()

    private static let cwt: [UInt8] = {
        let claims: [CBORKey: CBORValue] = [
            2: .text("https://dmv.example/1"), 4: .unsigned(1_900_000_000), 6: .unsigned(1_800_000_000),
            65533: .map(["bits": .unsigned(1), "lst": .bytes(deflated[...])]),
        ]
        let header: [CBORKey: CBORValue] = [1: .negative(6), 16: .text("application/statuslist+cwt")]
        return CBORValue.array([
            .bytes(CBORValue.map(header).encoded[...]), .map([33: .bytes([0x30, 0])]),
            .bytes(CBORValue.map(claims).encoded[...]), .bytes([UInt8](repeating: 1, count: 64)[...]),
        ]).encoded
    }()

    private static let jwt: String = {
        let header = #"{"alg":"ES256","typ":"statuslist+jwt","x5c":["MAA="]}"#
        let list = #"{"bits":1,"lst":"\#(Base64URL.encode(deflated))"}"#
        let payload = #"{"sub":"https://dmv.example/1","iat":1800000000,"exp":1900000000,"status_list":\#(list)}"#
        return [Array(header.utf8), Array(payload.utf8), [UInt8](repeating: 1, count: 64)]
            .map { Base64URL.encode($0) }.joined(separator: ".")
    }()
}
