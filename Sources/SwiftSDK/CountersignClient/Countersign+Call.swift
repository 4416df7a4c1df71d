import Foundation
import HTTPTypes

extension Countersign {
    /// Makes a call in the user's session. If necessary it renews the session once, together with all waiting calls. If
    /// a response was lost, it repeats calls that are safe to repeat.
    ///
    /// - Parameters:
    ///   - request: method, path and header fields; scheme and authority are those of the service. A request with its
    ///   own `Authorization` is sent unchanged.
    ///   - body: at most 64 KiB.
    /// - Returns: the response, with a status below 400.
    public func call(
        _ request: HTTPRequest, body: Data? = nil
    ) async throws(Refusal) -> (HTTPResponse, Data) {
        let answer = try await answer(Call(request, body: body))
        return (answer.response, answer.body)
    }

    /// Makes a call and decodes its response.
    func perform<Value: Decodable>(_ call: Call) async throws(Refusal) -> Value { try await answer(call).decode() }

    /// Makes a call without a response body.
    func send(_ call: Call) async throws(Refusal) { _ = try await answer(call) }

    func answer(_ call: Call) async throws(Refusal) -> Answer {
        try load()
        try requireCertificate()
        let hasOwn = call.request.headerFields[.authorization] != nil
        // The call is for the current user, and is never carried out for another one.
        var user = record.session?.session.userID
        var hasRenewed = false
        var attachments = 0
        // Each round but the last resolves one cause of a refusal.
        for _ in 0..<6 {
            guard hasOwn || record.session != nil || signingIn != nil else { throw .signedOut }
            if !hasOwn, let session = record.session, session.isChallenged, signingIn == nil, tokenSource == nil {
                throw .service(.challenged)
            }
            if hasOwn { await takeTurn() } else { await takeTurnAfterSignIn() }
            let session = record.session
            user = user ?? session?.session.userID
            let (answer, serial) = try await exchangeInTurn(call, session, of: user)
            guard let problem = try answer.problem() else { return answer }
            if problem.code == .certificateRevoked {
                // The certificate was replaced while the request was sent. The service has not acted.
                if let device = record.device, device.device.serial != serial { continue }
                forgetCertificate(serial)
                throw .service(problem)
            }
            guard !hasOwn, let session else { throw .service(problem) }
            if problem.code == .sessionNotAttached, attachments < 3 {
                attachments += 1
                try await attach()
            } else if problem.asksForIdentity, !hasRenewed {
                hasRenewed = true
                try await renew(session, after: problem)
            } else {
                noteEnd(of: session.token, problem)
                throw .service(problem)
            }
        }
        throw .unanswered("the session changed too often")
    }

    /// Waits for a running sign-in, and for a turn.
    private func takeTurnAfterSignIn() async {
        while true {
            while let signingIn { _ = await signingIn.value }
            await takeTurn()
            // Another sign-in may have started while this call waited for its turn.
            if signingIn == nil { return }
            endTurn()
        }
    }

    /// One exchange in the session, which ends the turn.
    private func exchangeInTurn(
        _ call: Call, _ session: Record.SessionSecret?, of user: UUID?
    ) async throws(Refusal) -> (answer: Answer, serial: String) {
        defer { endTurn() }
        var named = call
        if call.request.headerFields[.authorization] == nil {
            guard let session, session.session.userID == user else { throw .signedOut }
            named.authorize(session.token)
        }
        return try await exchange(named)
    }

    /// Checks the certificate's age before a call.
    private func requireCertificate() throws(Refusal) {
        guard let device = record.device?.device else { throw .uncertified }
        guard serviceTime < device.notAfter else {
            forgetCertificate(device.serial)
            throw .uncertified
        }
        if serviceTime >= device.renewAfter, renewingCertificate == nil, certificateTimer == nil {
            scheduleCertificateRenewal()
        }
    }
}
