import Authority
import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// A request that meets the certification requirement.
private struct GrantedRequest: Sendable {
    let request: Service.DeviceRequest
    let presenceKey: VerificationKey?
    let passed: Passed
    /// The request's places in its sender's limits; `nil` without rate limits.
    let places: RateRepository.Places?
}

/// What met the requirement, and is not spent yet.
private struct Passed: Sendable {
    var enrolment: EnrolmentToken?
    var attestation: VerifiedAttestation?
}

/// What the store says before a certificate is signed.
private enum Found: Sendable {
    case repeated(CertifiedDevice)
    case name(isFree: Bool)
}

/// How long a repetition of a request returns the certificate that was already issued, in seconds. The device may not
/// have received the first response.
private let repeatableSeconds: TimeInterval = 600

package extension Service {
    /// A device's request for a certificate.
    struct DeviceRequest: Sendable {
        /// A PEM PKCS#10 request or a Layer CSR.
        let csr: String
        /// SubjectPublicKeyInfo PEM of a key that only a present user can use.
        let presenceKey: String?
        /// The token that the requirement `provider` needs.
        let enrolmentToken: String?
        /// The response that the requirement `captcha` needs.
        let captcha: String?
        /// What proves where the key is.
        let attestation: AttestationEvidence?
        /// The limit's key for the sender's address.
        let address: String
        /// SHA-256 of the bytes of ``csr``.
        let digest: Digest256

        package init(
            csr: String, presenceKey: String?, enrolmentToken: String?, captcha: String?,
            attestation: AttestationEvidence? = nil, address: String
        ) {
            self.csr = csr
            self.presenceKey = presenceKey
            self.enrolmentToken = enrolmentToken
            self.captcha = captcha
            self.attestation = attestation
            self.address = address
            digest = Digest256.of(csr)
        }
    }

    /// `Certify`: a certification request becomes a client certificate of the internal CA.
    ///
    /// - Parameter verifyCaptcha: asks the siteverify endpoint about a captcha's response.
    /// - Throws: `Refusal` `invalid_csr` with its reasons, `malformed_request`, `rate_limited`, `unavailable`.
    func certifyDevice(
        _ request: DeviceRequest, verifyCaptcha: (String) async throws -> Bool
    ) async throws -> CertifiedDevice {
        // Provider keys are verified from memory, and the certificate's dates are this machine's.
        try invalidator.requireFresh()
        let rules = policy[\.certification]
        let places: RateRepository.Places? =
            if rateLimiting == .on {
                try await store.transaction(inTurn: .certificates) {
                    try countCertification(request.address, rules, in: $0)
                }
            } else { nil }
        let presenceKey = try request.presenceKey.map { pem throws(Refusal) in try Self.presenceKey(pem) }
        // Before the requirement is checked: the first request may have spent its token, captcha or challenge. Without a
        // requirement the next snapshot is enough.
        if rules.gate != .open || request.attestation != nil,
            let repeated = try await read({ try repeated(request, presenceKey, in: $0) })
        {
            return repeated
        }
        let parsed = try RequestedCertificate(request.csr)
        let passed: Passed
        do {
            passed = try await pass(rules, request, parsed, verifyCaptcha)
        } catch {
            // A repetition may have been granted while the requirement was checked.
            if let repeated = try await read({ try repeated(request, presenceKey, in: $0) }) {
                return repeated
            }
            throw error
        }
        let wished = parsed.wishedDeviceID
        let found = try await read { transaction -> Found in
            // A later repetition is found by the transaction that records the certificate.
            if let repeated = try repeated(request, presenceKey, in: transaction) { return .repeated(repeated) }
            if let wished { try requireUnbanned(.device(wished), in: transaction) }
            if let hash = presenceKey.flatMap({ Digest256($0.thumbprint) }) {
                try requireUnbanned(.deviceKey(hash), in: transaction)
            }
            try requireUnusedKey(parsed.key, in: transaction)
            if let ceiling = ceiling(rules) {
                try RateRepository(transaction).requireRoom(Self.ceilingKey, limit: ceiling)
            }
            guard let wished else { return .name(isFree: false) }
            // A certified name is never given to another device.
            let state: ConnectionState =
                try CertificateRepository(transaction).list(deviceID: wished).isEmpty ? .uncertified : .disconnected
            return .name(isFree: state.after(.certify) != nil)
        }
        let isFree: Bool
        switch found {
        case .repeated(let repeated): return repeated
        case .name(let free): isFree = free
        }
        let granted = GrantedRequest(request: request, presenceKey: presenceKey, passed: passed, places: places)
        if isFree, let wished, let issued = try await issue(parsed, as: wished, granted) { return issued }
        guard let issued = try await issue(parsed, as: environment.newIdentifier(), granted) else {
            throw Refusal.noFreeDeviceID
        }
        return issued
    }

    /// Counts an attempt by an address and by the networks around it.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    private func countCertification(
        _ address: String, _ rules: CertificationPolicy, in transaction: any Transaction
    ) throws -> RateRepository.Places {
        try RateRepository(transaction).count(
            .certification, from: address, keys: keys.personal, limits: rules.perHourPerSender)
    }

    private static let ceilingKey = "certify open"

    /// The limit of all certificates together; `nil` without rate limits, or if there is a certification requirement.
    private func ceiling(_ rules: CertificationPolicy) -> RateLimit? {
        rules.gate == .open && rateLimiting == .on ? RateLimit(count: rules.openPerHour, per: 3600) : nil
    }

    /// The certificate that was recently issued for a repeated request, if it is still valid. The certificate is
    /// public, so it may be returned to a caller who copied the request. Such a caller cannot replace the device's
    /// presence key.
    private func repeated(
        _ request: DeviceRequest, _ presenceKey: VerificationKey?, in transaction: any Transaction
    ) throws -> CertifiedDevice? {
        guard let known = try RepeatedRequestRepository(transaction).find(request.digest),
            known.presenceKey == presenceKey?.pem, known.certificate.revoked == nil,
            transaction.now < known.certificate.notAfter
        else { return nil }
        let entries = try BanRepository(transaction).entries(
            on: [.device(known.certificate.deviceID), .deviceKey(known.certificate.keyHash)])
        guard BanEntry.activeBan(among: entries, for: .all, at: transaction.now) == nil else { return nil }
        guard let authority = try CertificateRepository(transaction).authority(serial: known.certificate.serial) else {
            return nil
        }
        return CertifiedDevice(
            certificatePEM: known.certificatePEM, chainPEM: chain(of: authority), certificate: known.certificate,
            authority: authority, isRepeated: true)
    }

    /// Signs and records a certificate; returns `nil` and changes nothing if the id was taken meanwhile. A certificate
    /// that is not in the issuance table is not valid.
    private func issue(
        _ parsed: RequestedCertificate, as deviceID: DeviceID, _ granted: GrantedRequest
    ) async throws -> CertifiedDevice? {
        let (request, presenceKey, passed) = (granted.request, granted.presenceKey, granted.passed)
        let issued = try signCertificate(
            parsed.key, deviceID: deviceID, replaces: nil, attestation: passed.attestation?.level ?? .unattested)
        let rules = policy[\.certification]
        let ceiling = ceiling(rules)
        return try await write(inTurn: .certificates) { transaction, events in
            // Two concurrent repetitions of a request get one certificate.
            if let repeated = try repeated(request, presenceKey, in: transaction) { return repeated }
            try requireUnusedKey(parsed.key, in: transaction)
            guard
                try DeviceRepository(transaction).insert(
                    deviceID, userAgent: parsed.userAgent, presenceKey: presenceKey?.pem, at: transaction.now)
            else { return nil }
            if let ceiling { try RateRepository(transaction).count(Self.ceilingKey, limit: ceiling) }
            if let attestation = passed.attestation { try record(attestation, of: deviceID, in: transaction) }
            if let enrolment = passed.enrolment {
                guard
                    try NonceRepository(transaction).spend(
                        identifier: "enrolment \(enrolment.identifier)", of: enrolment.provider,
                        until: enrolment.rememberUntil)
                else { throw Refusal.enrolmentTokenUsed }
            }
            try recordCertificate(
                issued, subjectPublicKeyInfo: parsed.key.subjectPublicKeyInfo, in: transaction, &events)
            try RepeatedRequestRepository(transaction).remember(
                request.digest, serial: issued.certificate.serial, certificatePEM: issued.certificatePEM,
                places: rules.gate == .open ? granted.places : nil,
                until: transaction.now.addingTimeInterval(repeatableSeconds))
            // The requirement has shown that a person made the request.
            if rules.gate != .open, let places = granted.places {
                try RateRepository(transaction).giveBack(places)
            }
            return issued
        }
    }

    private static func presenceKey(_ pem: String) throws(Refusal) -> VerificationKey {
        do throws(Refusal) {
            return try VerificationKey(pem: pem)
        } catch {
            throw Refusal.unreadablePresenceKey(error.detail)
        }
    }

    /// Checks the certification requirement. An attestation is verified with any requirement.
    private func pass(
        _ rules: CertificationPolicy, _ request: DeviceRequest, _ parsed: RequestedCertificate,
        _ verifyCaptcha: (String) async throws -> Bool
    ) async throws -> Passed {
        var passed = Passed()
        if let evidence = request.attestation {
            passed.attestation = try await verifyAttestation(evidence, for: parsed)
            // It is not asked for anything else, such as the fallback.
            if rules.gate == .attested { return passed }
        }
        switch rules.gate {
        case .open: break
        case .captcha: try await passCaptcha(request, verifyCaptcha)
        case .provider: passed.enrolment = try await passEnrolment(request)
        case .attested:
            switch rules.attestation.fallback {
            case .none: throw Refusal.attestationRequired
            case .captcha: try await passCaptcha(request, verifyCaptcha)
            case .provider: passed.enrolment = try await passEnrolment(request)
            }
        }
        return passed
    }

    private func passCaptcha(
        _ request: DeviceRequest, _ verifyCaptcha: (String) async throws -> Bool
    ) async throws {
        guard let captcha = request.captcha, captcha.utf8.count <= 4096 else { throw Refusal.captchaRequired }
        guard try await verifyCaptcha(captcha) else { throw Refusal.captchaRejected }
    }

    /// Verifies the enrolment token, which is not spent yet.
    private func passEnrolment(_ request: DeviceRequest) async throws -> EnrolmentToken {
        guard let text = request.enrolmentToken else { throw Refusal.enrolmentTokenRequired }
        let token: UnverifiedToken
        do throws(Refusal) {
            token = try UnverifiedToken(text, refusing: .invalidCSR)
        } catch {
            throw Refusal.enrolmentTokenUnreadable(error.detail)
        }
        let known = try await caches.providers.find(token.issuer)
        return try ProviderTokenVerifier(
            realm: realm, clockSkew: policy[\.identityTokens].clockSkew
        )
        .verifyEnrolment(
            token, provider: known?.provider, key: known?.key(token.keyID), now: environment.now())
    }
}
