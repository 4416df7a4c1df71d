import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Tokens

@Suite("A status list")
struct StatusListTests {
    private let issuer: WalletIssuer
    private static let uri = "https://dmv.example/status/1"

    init() throws {
        issuer = try WalletIssuer()
    }

    /// The status at an index of a list with a fault, in both forms.
    private func statuses(
        _ index: Int = 0, uri: String = uri, signer: Result<CredentialSigner, PresentationDefect>? = nil,
        _ change: (inout StatusListMint) -> Void = { _ in }
    ) throws -> [CredentialStatus] {
        try RequestedCredential.Format.allCases.map { format in
            var mint = StatusListMint(issuer)
            mint.isJWT = format == .selectiveDisclosure
            change(&mint)
            let list = try StatusList(mint.token(), for: format)
            do throws(StatusList.Defect) {
                return try list.verified(at: uri, signer: signer ?? trusted(), now: issuer.now).status(at: index)
            } catch {
                return .unknown(error.detail)
            }
        }
    }

    private func trusted() -> Result<CredentialSigner, PresentationDefect> {
        (try? issuer.signer()).map { .success($0) } ?? .failure(PresentationDefect(.unknownIssuer, ""))
    }

    private static func isUnknown(_ status: CredentialStatus) -> Bool {
        if case .unknown = status { true } else { false }
    }

    @Test("has the lowest bits of each byte first, in both forms")
    func values() throws {
        for (index, expected) in [CredentialStatus.valid, .revoked, .suspended].enumerated() {
            #expect(try statuses(index) == [expected, expected])
        }
        #expect(try statuses(3).allSatisfy(Self.isUnknown))
        #expect(try statuses(4).allSatisfy(Self.isUnknown))
        #expect(try statuses(7) { $0.bits = 1 } == [.revoked, .revoked])
        #expect(try statuses(2) { $0.bits = 1 } == [.revoked, .revoked])
        #expect(try statuses(0) { $0.bits = 1 } == [.valid, .valid])
        #expect(try statuses(1) { ($0.bits, $0.list) = (4, [0x20]) } == [.suspended, .suspended])
        #expect(try statuses(1) { ($0.bits, $0.list) = (8, [0, 1]) } == [.revoked, .revoked])
    }

    @Test("is the list that the credential names, from an hour that has come and not passed")
    func claims() throws {
        let now = issuer.now
        #expect(try statuses(uri: "https://dmv.example/status/2").allSatisfy(Self.isUnknown))
        #expect(try statuses { $0.issuedAt = now + 61 }.allSatisfy(Self.isUnknown))
        #expect(try statuses { $0.issuedAt = nil }.allSatisfy(Self.isUnknown))
        #expect(try statuses { $0.expiresAt = now - 60 }.allSatisfy(Self.isUnknown))
        #expect(try statuses { $0.expiresAt = now - 59 } == [.valid, .valid])
        #expect(try statuses { $0.expiresAt = nil } == [.valid, .valid])
    }

    @Test("says for how long it may be kept: until its exp, its ttl or the end of its signer, whichever is first")
    func lifetime() throws {
        let now = issuer.now
        for (end, timeToLive, expected) in [
            (now + 20, nil, 20), (now + 20, 10, 10), (now + 20, 60, 20), (nil, 10, 10), (now - 30, 60, -30),
            (nil, nil, 400 * 86_400), (now + 500 * 86_400, nil, 400 * 86_400),
        ] as [(Date?, UInt64?, TimeInterval)] {
            for format in RequestedCredential.Format.allCases {
                var mint = StatusListMint(issuer)
                (mint.expiresAt, mint.timeToLive) = (end, timeToLive)
                mint.isJWT = format == .selectiveDisclosure
                let list = try StatusList(mint.token(), for: format)
                #expect(try list.verified(at: Self.uri, signer: trusted(), now: now).lifetime == expected)
            }
        }
    }

    @Test("has no status before its begin and after its end")
    func bounds() throws {
        let list = try StatusList(StatusListMint(issuer).token(), for: .mobileDocument)
        let verified = try list.verified(at: Self.uri, signer: trusted(), now: issuer.now)
        for index in [-1, 4, Int.max, Int.min] {
            #expect(!verified.contains(index) && Self.isUnknown(verified.status(at: index)))
        }
        #expect(verified.contains(3) && verified.size == 1)
    }

    @Test("has a trusted signer, or its answer is unknown and never that a credential is revoked")
    func signer() throws {
        let other = try WalletIssuer()
        #expect(try statuses(1, signer: .success(other.signer())).allSatisfy(Self.isUnknown))
        let unknown = PresentationDefect(.unknownIssuer, "Unknown.")
        #expect(try statuses(1, signer: .failure(unknown)).allSatisfy(Self.isUnknown))
    }

    @Test("is a CWT for mobile documents and a JWT for SD-JWTs")
    func forms() throws {
        for format in RequestedCredential.Format.allCases {
            var mint = StatusListMint(issuer)
            mint.isJWT = format == .mobileDocument
            let token = try mint.token()
            #expect(throws: StatusList.Defect.self) { try StatusList(token, for: format) }
            mint.isJWT.toggle()
            for type in ["JWT", "statuslist"] {
                mint.type = type
                let token = try mint.token()
                #expect(throws: StatusList.Defect.self) { try StatusList(token, for: format) }
            }
            mint.type = nil
            mint.bits = 3
            let odd = try mint.token()
            #expect(throws: StatusList.Defect.self) { try StatusList(odd, for: format) }
            let long = [UInt8](repeating: 0, count: StatusList.maximumLength + 1)
            #expect(throws: StatusList.Defect.self) { try StatusList(long, for: format) }
        }
    }

    @Test("is refused with any bit changed outside its certificate")
    func flips() throws {
        let token = try StatusListMint(issuer).token()
        let certificate = try #require(token.firstRange(of: issuer.certificate))
        let signer = try issuer.signer()
        // The label of the certificate is not signed either.
        let unsigned = (certificate.lowerBound - 6)..<certificate.upperBound
        for place in token.indices where !unsigned.contains(place) {
            var bytes = token
            bytes[place] ^= 1
            guard let list = try? StatusList(bytes, for: .mobileDocument) else { continue }
            #expect(throws: StatusList.Defect.self, "\(place)") {
                try list.verified(at: Self.uri, signer: .success(signer), now: issuer.now)
            }
        }
    }
}
