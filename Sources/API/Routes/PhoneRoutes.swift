import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import Operations

/// Verifications of phone numbers. Client listener, with a session.
struct PhoneRoutes: Sendable {
    let service: Service
    /// Verifies a captcha's response at the siteverify endpoint.
    let verifyCaptcha: @Sendable (String) async throws -> Bool

    func add(to router: ListedRouter<ClientContext>, behind session: RequireSession) {
        let protected = router.group("phone-verifications").behind(session)
        protected.post(cost: .write, use: startVerification)
        protected.post(":id/check", cost: .write, use: checkCode)
        protected.post(":id/resend", cost: .write) { _, context in
            answer(
                try await service.resendPhoneCode(
                    try context.parameters.require("id"), for: try context.checkedSession, address: context.addressKey),
                context.logger)
        }
    }

    @Sendable private func startVerification(_ request: Request, _ context: ClientContext) async throws -> Response {
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let languages = try members.optionalString("locale").map { tag throws(Refusal) in
            try LanguagePreferences(tag: tag)
        }
        let wanted = Service.PhoneVerificationRequest(
            phoneNumber: try members.string("phone_number"), region: try members.optionalString("region"),
            pushEndpoint: try members.optionalString("push_endpoint"),
            presence: try members.optionalString("presence"), captcha: try members.optionalString("captcha"),
            languages: languages
                ?? LanguagePreferences(acceptLanguage: request.headers.text(of: .acceptLanguage) ?? ""),
            address: context.addressKey)
        try members.rejectUnknown()
        let started = try await service.startPhoneVerification(
            wanted, for: try context.checkedSession, on: try context.connection, verifyCaptcha: verifyCaptcha)
        return answer(started, context.logger)
    }

    @Sendable private func checkCode(_ request: Request, _ context: ClientContext) async throws -> Response {
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let code = try members.string("code")
        try members.rejectUnknown()
        let session = try context.checkedSession
        let outcome = try await service.checkPhoneVerification(
            try context.parameters.require("id"), code: code, for: session)
        Counter(label: "phone_checks", dimensions: [("verdict", outcome.verdict.rawValue)]).increment()
        try outcome.requireRight()
        return .json(["user_id": .id(session.userID), "assurance": .string(outcome.assurance.rawValue)])
    }

    private func answer(_ started: Service.StartedPhoneVerification, _ logger: Logger) -> Response {
        if let decision = started.decision { count(decision) }
        if let name = started.thinned {
            logger.warning(
                "texts are limited: too few codes come back; see `countersign texts list`",
                metadata: ["subject": .string(name)])
        }
        return .json(
            status: .accepted,
            [
                "id": .id(started.id), "expires_at": .string(started.expiresAt.rfc3339),
                "resend_after": started.resendAfter.map { .string($0.rfc3339) } ?? .null,
                "digits": .integer(Int64(started.digits)),
            ])
    }

    private func count(_ decision: SendGuard.Decision) {
        switch decision {
        case .send: Counter(label: "phone_texts", dimensions: [("decision", "send")]).increment()
        case .withhold(let reason, let scope):
            Counter(label: "phone_texts", dimensions: [("decision", reason.rawValue)]).increment()
            guard let scope else { return }
            Counter(label: "phone_breaker_trips", dimensions: [("thinned", scope.rawValue)]).increment()
        }
    }
}
