import Foundation
import HTTPTypes

extension Countersign {
    /// Certifies the device's key, unless the device is certified already. The certificate renews by itself.
    ///
    /// - Parameter proof: the proof that the service requires before it certifies.
    /// - Throws: `invalid_csr` with reason `gate` for a missing or refused proof.
    @discardableResult
    public func certify(_ proof: CertifyProof = .none) async throws(Refusal) -> Device {
        try await certify(proof, attestedBy: nil)
    }

    /// Certifies the device's key with an attestation, unless the device is certified already. The certificate renews by
    /// itself.
    ///
    /// Some devices never attest. If the service accepts another proof from them, call ``certify(_:)`` after this, once.
    ///
    /// - Throws: ``Refusal/unattested(_:)`` if the platform fails; `invalid_csr` with reason `gate` for a refused attestation.
    @discardableResult
    public func certify(attestedBy attestor: KeyAttestor) async throws(Refusal) -> Device {
        try await certify(.none, attestedBy: attestor)
    }

    private func certify(_ proof: CertifyProof, attestedBy attestor: KeyAttestor?) async throws(Refusal) -> Device {
        try load()
        if let device = record.device?.device, serviceTime < device.notAfter { return device }
        let task =
            certifying
            ?? Task {
                let result = await certification(proof, attestor)
                certifying = nil
                return result
            }
        certifying = task
        return try await task.value.get()
    }

    private func certification(
        _ proof: CertifyProof, _ attestor: KeyAttestor?
    ) async -> Result<Device, Refusal> {
        let isAgain = record.pending != nil
        do throws(Refusal) {
            do throws(Refusal) {
                return .success(try await certifyOnce(proof, attestor))
            } catch {
                // The key or the challenge is from an earlier attempt, with a response that was lost long ago.
                guard case .service(let problem) = error, problem.code == .invalidCSR,
                    problem.reason != "gate" || (attestor != nil && isAgain), record.pending != nil
                else { throw error }
                var changed = record
                changed.pending = nil
                try keep(changed)
                return .success(try await certifyOnce(proof, attestor))
            }
        } catch {
            return .failure(error)
        }
    }

    private func certifyOnce(_ proof: CertifyProof, _ attestor: KeyAttestor?) async throws(Refusal) -> Device {
        let pending = try await pendingRequest(attestor)
        let certified = try await issue(pending, proof)
        var changed = record
        changed.device = certified.key(named: pending.keyName, presence: pending.presenceKeyName)
        (changed.pending, changed.session) = (nil, nil)
        try keep(changed)
        try await replaceIdentity()
        scheduleCertificateRenewal()
        do throws(Refusal) {
            try await removeFormerKeys()
        } catch {
            // An unused key does no harm. The next certification removes it.
        }
        return certified.device
    }

    private func removeFormerKeys() async throws(Refusal) {
        do throws(StorageFailure) {
            try await keys.removeAll(except: record.keyNames)
            try await presence?.keys.removeAll(except: record.keyNames)
        } catch {
            throw .storage(error)
        }
    }

    /// The request to send: the previous one, if the service still repeats its response, or one with a new key.
    private func pendingRequest(_ attestor: KeyAttestor?) async throws(Refusal) -> Record.Pending {
        // The service repeats the certificate for ten minutes.
        if let pending = record.pending, (0..<540).contains(now().timeIntervalSince(pending.madeAt)),
            (pending.presenceKeyName == nil) == (presence == nil), (pending.attestation == nil) == (attestor == nil)
        {
            return pending
        }
        try await removeFormerKeys()
        let (name, deviceID) = (UUID().path, UUID())
        let (point, attestation) = try await makeKey(name, for: deviceID, attestor)
        let presenceKeyName = try await presence?.make()
        let csr = try await DeviceToken(keys: keys, keyName: name)
            .certificationRequest(deviceID: deviceID, publicPoint: point)
        let pending = Record.Pending(
            keyName: name, presenceKeyName: presenceKeyName, csr: csr, attestation: attestation, madeAt: now())
        var changed = record
        changed.pending = pending
        try keep(changed)
        return pending
    }

    /// The service's response with a certificate.
    private struct Certified: Decodable {
        let certificate: String
        let device: Device

        private enum CodingKeys: String, CodingKey {
            case certificate, serial
            case deviceID = "device_id"
            case notAfter = "not_after"
            case renewAfter = "renew_after"
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            certificate = try members.decode(String.self, forKey: .certificate)
            device = Device(
                id: try members.decode(UUID.self, forKey: .deviceID),
                serial: try members.decode(String.self, forKey: .serial),
                notAfter: try members.decode(Date.self, forKey: .notAfter),
                renewAfter: try members.decode(Date.self, forKey: .renewAfter))
        }

        func key(named name: String, presence: String?) -> Record.CertifiedKey {
            Record.CertifiedKey(
                keyName: name, presenceKeyName: presence, certificate: certificate, device: device)
        }
    }

    private struct RequestBody: Encodable {
        let csr: String
        let attestation: Attestation?
        var presenceKey: String?
        var enrolmentToken: String?
        var captcha: String?

        private enum CodingKeys: String, CodingKey {
            case csr, attestation, captcha
            case presenceKey = "presence_key"
            case enrolmentToken = "enrolment_token"
        }
    }

    /// The service answers identical bytes with the same certificate, so they may be sent again.
    private func issue(_ pending: Record.Pending, _ proof: CertifyProof) async throws(Refusal) -> Certified {
        var body = RequestBody(csr: pending.csr, attestation: pending.attestation)
        if let presence, let name = pending.presenceKeyName {
            body.presenceKey = try await presence.publicKey(name)
        }
        switch proof {
        case .none: break
        case .enrolmentToken(let token): body.enrolmentToken = token
        case .captcha(let response): body.captcha = response
        }
        let call = Call(.post, "/certificates", body: body)
        let transport = try load()
        var last = Refusal.cancelled
        for attempt in 0..<3 {
            do throws(Refusal) {
                let answer = try await transport.send(call, as: nil)
                note(answer)
                guard let problem = try answer.problem() else { return try answer.decode() }
                throw .service(problem)
            } catch {
                last = error
                switch error {
                case .unreachable, .unanswered: break
                case .service(let problem) where problem.isPassing: break
                default: throw error
                }
            }
            do { try await Task.sleep(for: .milliseconds(200 << attempt)) } catch { throw .cancelled }
        }
        throw last
    }

    /// Renews the certificate after two thirds of its validity, while the client exists.
    func scheduleCertificateRenewal(after failure: Bool = false) {
        certificateTimer?.cancel()
        guard let device = record.device?.device else { return }
        var wait = device.renewAfter.timeIntervalSince(serviceTime)
        // A failed renewal is retried ten times until the expiry, at most once a second and at least once an hour.
        if failure { wait = min(max(device.notAfter.timeIntervalSince(serviceTime) / 10, 1), 3600) }
        let milliseconds = Int64(min(max(wait, 1), 86_400) * 1000)
        certificateTimer = Task { [weak self] in
            do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch { return }
            await self?.renewCertificateIfDue()
        }
    }

    /// One renewal at a time. A failed renewal leaves the current certificate unchanged.
    func renewCertificateIfDue() async {
        if let renewingCertificate { return await renewingCertificate.value }
        guard let device = record.device else { return }
        guard device.device.renewAfter <= serviceTime else { return scheduleCertificateRenewal() }
        let task = Task {
            do throws(Refusal) {
                try await renewCertificate(device)
                scheduleCertificateRenewal()
            } catch {
                scheduleCertificateRenewal(after: true)
            }
            renewingCertificate = nil
        }
        renewingCertificate = task
        await task.value
    }

    /// Requests a new certificate for the same key, so that the session continues. If the response is lost, the renewal
    /// has no effect and is repeated.
    private func renewCertificate(_ present: Record.CertifiedKey) async throws(Refusal) {
        let (answer, serial) = try await exchange(Call(.post, "/certificates/renewal", json: [:], isRepeatable: true))
        if let problem = try answer.problem() {
            if problem.code == .certificateRevoked { forgetCertificate(serial) }
            throw .service(problem)
        }
        let renewed: Certified = try answer.decode()
        guard record.device == present else { return }
        var changed = record
        changed.device = renewed.key(named: present.keyName, presence: present.presenceKeyName)
        try keep(changed)
        try await replaceIdentity()
    }
}
