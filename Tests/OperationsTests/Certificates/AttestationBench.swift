import Authority
import Crypto
import Delivery
import Domain
import Encoding
import Fixtures
import Foundation

@testable import Operations

/// Devices with attestations, and a service that trusts the authorities which make them.
struct AttestationBench: Sendable {
    let service: Service
    let verifier: AttestationVerifier
    let apple = AppAttestMint()
    let android = AndroidKeyMint()
    let apps: [AttestedApp]
    let app: ApplicationID

    /// The serial number of the batch's certificate in all chains, as the list writes it.
    static let batchSerial = "abc123"

    /// - Parameter withList: whether the list of revoked attestations was fetched, and is empty.
    init(_ fixture: ServiceFixture, withList: Bool = true) async throws {
        verifier = try AttestationVerifier(apple: [apple.root()], google: [android.root()])
        service = fixture.context(attestation: verifier)
        try await service.invalidator.poll()
        app = fixture.registration.applicationID
        apps = [
            AttestedApp(apple: AppAttestMint.app),
            AttestedApp(package: AndroidKeyMint.package, certificate: AndroidKeyMint.signer),
        ].compactMap(\.self)
        for attested in apps { try await fixture.admin.addAttestedApp(attested, to: app) }
        guard withList else { return }
        _ = try await RefreshAttestationStatus(service) { .read(Array(#"{"entries": {}}"#.utf8)) }()
    }

    func certify(_ request: Service.DeviceRequest) async throws -> CertifiedDevice {
        try await service.certifyDevice(request) { $0 == "solved" }
    }

    /// A request with an attestation of App Attest for its key.
    ///
    /// - Parameters:
    ///   - challenge: `nil` for a new one.
    ///   - csr: the request that is sent in place of the attested one.
    func appleRequest(
        _ challenge: String? = nil, csr other: String? = nil, captcha: String? = nil
    ) throws -> Service.DeviceRequest {
        let csr = try TestAuthority.certificationRequest(commonName: UUID().uuidString)
        let challenge = challenge ?? service.issueAttestationChallenge().challenge
        let object = try apple.object(try Self.digest(challenge, csr))
        return Service.DeviceRequest(
            csr: other ?? csr, presenceKey: nil, enrolmentToken: nil, captcha: captcha,
            attestation: .appAttest(challenge: challenge, keyID: apple.keyID.bytes, object: object),
            address: "192.0.2.1")
    }

    /// A request by the attested key of an Android device.
    func androidRequest(_ challenge: String? = nil) throws -> Service.DeviceRequest {
        var mint = android
        mint.deviceKey = P256.Signing.PrivateKey()
        mint.batchSerial = [0x00, 0xAB, 0xC1, 0x23]
        let device = UUID().uuidString.lowercased()
        let csr = try TestAuthority.certificationRequest(commonName: device, key: mint.deviceKey)
        let challenge = challenge ?? service.issueAttestationChallenge().challenge
        let chain = try mint.chain(AttestationVerifier.digest(challenge: challenge, subject: device))
        return Service.DeviceRequest(
            csr: csr, presenceKey: nil, enrolmentToken: nil, captcha: nil,
            attestation: .androidKey(challenge: challenge, chain: chain), address: "192.0.2.1")
    }

    /// What vouches for the key of a renewal.
    func assertion(for csr: String, counter: UInt32) throws -> Service.AttestationEvidence {
        let challenge = service.issueAttestationChallenge().challenge
        let assertion = try apple.assertion(try Self.digest(challenge, csr), counter: counter)
        return .assertion(challenge: challenge, keyID: apple.keyID.bytes, assertion: assertion)
    }

    private static func digest(_ challenge: String, _ csr: String) throws -> Digest256 {
        let key = try CertificationRequest.parse(pkcs10: csr).publicKey
        return AttestationVerifier.digest(challenge: challenge, subject: Base64URL.encode(key.keyHash))
    }
}
