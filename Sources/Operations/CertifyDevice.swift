import Authority
import Database
import Foundation
import Identity
import Records
import Tokens

/// A certificate as its device gets it.
public struct CertifiedDevice: Sendable {
    /// The certificate, PEM.
    public let certificatePEM: String
    /// The authority's certificates, PEM.
    public let chainPEM: [String]
    /// The issuance table's row.
    public let certificate: DeviceCertificate
}

/// `Certify`: a certification request becomes a client certificate of the internal CA.
public struct CertifyDevice: Sendable {
    private let store: any Database
    private let keys: PersonalKeys
    private let issuing: IssueCertificate
    private let providers: KnownProviders
    private let watch: StoreWatch
    private let realm: String
    private let verifyCaptcha: @Sendable (String) async throws -> Bool
    private let policy: CurrentPolicy
    private let rateLimiting: RateLimiting
    private let surroundings: Surroundings

    /// Certifies into a store.
    ///
    /// - Parameter verifyCaptcha: asks the siteverify endpoint about a captcha's response.
    public init(
        store: any Database, keys: PersonalKeys, issuing: IssueCertificate, providers: KnownProviders,
        watch: StoreWatch, realm: String,
        verifyCaptcha: @escaping @Sendable (String) async throws -> Bool, policy: CurrentPolicy,
        rateLimiting: RateLimiting, surroundings: Surroundings
    ) {
        self.store = store
        self.keys = keys
        self.issuing = issuing
        self.providers = providers
        self.watch = watch
        self.realm = realm
        self.verifyCaptcha = verifyCaptcha
        self.policy = policy
        self.rateLimiting = rateLimiting
        self.surroundings = surroundings
    }

    /// What a device asks for.
    public struct Request: Sendable {
        /// A PEM PKCS#10 request or a Layer CSR.
        public let csr: String
        /// SubjectPublicKeyInfo PEM of a key that only a present user can use.
        public let presenceKey: String?
        /// What the `provider` gate wants.
        public let enrolmentToken: String?
        /// What the `captcha` gate wants.
        public let captcha: String?
        /// The limit's key for the sender's address.
        public let address: String

        /// Joins the parts.
        public init(csr: String, presenceKey: String?, enrolmentToken: String?, captcha: String?, address: String) {
            self.csr = csr
            self.presenceKey = presenceKey
            self.enrolmentToken = enrolmentToken
            self.captcha = captcha
            self.address = address
        }
    }

    /// Certifies.
    ///
    /// - Throws: ``Refusal`` `invalid_csr` with its reasons, `malformed_request`, `rate_limited`, `unavailable`.
    public func callAsFunction(_ request: Request) async throws -> CertifiedDevice {
        // Provider keys are judged from memory, and the certificate's dates are this machine's.
        try watch.requireFresh()
        let rules = policy[\.certification]
        if rateLimiting == .on {
            let limit = RateLimit(count: rules.perHourPerAddress, per: 3600)
            try await store.decide {
                try RateRecords($0).count("certify", from: request.address, keys: keys, limit: limit)
            }
        }
        let parsed = try RequestedCertificate(request.csr)
        let presenceKey = try request.presenceKey.map { pem throws(Refusal) in try Self.publicKey(pem) }
        let enrolment = try await pass(rules.gate, request)
        let wished = parsed.wishedDeviceID
        let isFree = try await store.look { transaction in
            if let wished { try issuing.requireUnbanned(.device(wished), in: transaction) }
            if let hash = presenceKey.flatMap({ Digest256($0.thumbprint) }) {
                try issuing.requireUnbanned(.deviceKey(hash), in: transaction)
            }
            try issuing.requireUnusedKey(parsed.key, in: transaction)
            return try wished.map { try CertificateRecords(transaction).list(deviceID: $0).isEmpty } ?? false
        }
        if isFree, let wished, let issued = try await issue(parsed, as: wished, presenceKey, enrolment) {
            return issued
        }
        guard let issued = try await issue(parsed, as: surroundings.newIdentifier(), presenceKey, enrolment) else {
            throw Refusal(.unavailable, "No device id is free at this moment; nothing was changed.", retryAfter: 1)
        }
        return issued
    }

    /// Signs, and writes the certificate down; `nil` where the id was taken meanwhile, and nothing was changed: what was
    /// signed counts nowhere, since it is not in the issuance table.
    private func issue(
        _ parsed: RequestedCertificate, as deviceID: DeviceID, _ presenceKey: VerificationKey?,
        _ enrolment: EnrolmentToken?
    ) async throws -> CertifiedDevice? {
        let issued = try issuing.sign(parsed.key, deviceID: deviceID, replaces: nil)
        let auditID = surroundings.newUUID()
        let isRecorded = try await store.decide { transaction in
            try issuing.requireUnusedKey(parsed.key, in: transaction)
            guard
                try DeviceRecords(transaction).insert(
                    deviceID, userAgent: parsed.userAgent, presenceKey: presenceKey?.pem, at: transaction.now)
            else { return false }
            if let enrolment {
                guard
                    try NonceRecords(transaction).spend(
                        identifier: "enrolment \(enrolment.identifier)", of: enrolment.provider,
                        until: enrolment.rememberUntil)
                else { throw Refusal(.invalidCSR, "The enrolment token was used before.", reason: "gate") }
            }
            try issuing.record(
                issued, subjectPublicKeyInfo: parsed.key.subjectPublicKeyInfo, actor: "device \(deviceID)",
                auditID: auditID, in: transaction)
            return true
        }
        return isRecorded ? issued : nil
    }

    private static func publicKey(_ pem: String) throws(Refusal) -> VerificationKey {
        do throws(Refusal) {
            return try VerificationKey(pem: pem)
        } catch {
            throw Refusal(.malformedRequest, "$.presence_key: \(error.detail)")
        }
    }

    /// Asks what stands before the authority; an enrolment token is still to be spent.
    private func pass(_ gate: CertificationPolicy.Gate, _ request: Request) async throws -> EnrolmentToken? {
        switch gate {
        case .open: return nil
        case .captcha:
            guard let captcha = request.captcha, captcha.utf8.count <= 4096 else {
                throw Refusal(.invalidCSR, "This service wants a solved captcha in $.captcha.", reason: "gate")
            }
            guard try await verifyCaptcha(captcha) else {
                throw Refusal(.invalidCSR, "The captcha was not accepted.", reason: "gate")
            }
            return nil
        case .provider:
            guard let text = request.enrolmentToken else {
                throw Refusal(
                    .invalidCSR, "This service wants a provider's token in $.enrolment_token.", reason: "gate")
            }
            let token: UnverifiedToken
            do throws(Refusal) {
                token = try UnverifiedToken(text, refusing: .invalidCSR)
            } catch {
                throw Refusal(.invalidCSR, "The enrolment token: \(error.detail)", reason: "gate")
            }
            let known = try await providers.find(token.issuer)
            return try ProviderTokenVerifier(realm: realm, clockSkew: policy[\.identityTokens].clockSkew)
                .verifyEnrolment(
                    token, provider: known?.provider, key: known?.key(token.keyID), now: surroundings.now())
        }
    }
}

/// The two forms of a certification request as one value: a key whose holder proved it, and two wishes.
struct RequestedCertificate: Sendable {
    let key: DevicePublicKey
    let wishedDeviceID: DeviceID?
    let userAgent: String?

    init(_ csr: String) throws(Refusal) {
        if csr.contains("-----BEGIN") {
            let request = try CertificationRequest.parse(pkcs10: csr)
            (key, wishedDeviceID, userAgent) = (request.publicKey, request.wishedDeviceID, nil)
        } else {
            let request = try LayerCSR(csr)
            key = try DevicePublicKey(subjectPublicKeyInfo: request.subjectPublicKeyInfo)
            wishedDeviceID = request.wishedDeviceID.flatMap { DeviceID($0[...]) }
            userAgent = request.userAgent
        }
    }
}
