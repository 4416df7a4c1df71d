import Domain
import Encoding
import Foundation
import PhoneNumbers

/// Amazon SNS: texts by `PhoneNumber`, pushes by `TargetArn` (Amazon SNS API Reference, "Publish").
struct SimpleNotificationService: Sender {
    let name = "sns"
    private let endpoint: ServiceURL
    private let signature: SignatureVersion4
    private let attributes: [(name: String, value: String)]
    private let credentials: @Sendable () throws -> AmazonCredentials
    private let http: BoundedHTTPClient
    private let now: @Sendable () -> Date

    /// Sends through one region.
    ///
    /// - Parameter credentials: called before each attempt, because temporary credentials are replaced at run time.
    init(
        _ settings: SNSSettings, credentials: @escaping @Sendable () throws -> AmazonCredentials,
        http: BoundedHTTPClient, now: @escaping @Sendable () -> Date
    ) {
        endpoint = settings.endpoint
        signature = SignatureVersion4(region: settings.region, service: "sns")
        // Amazon SNS Developer Guide, "Publishing SMS messages": codes are transactional, not promotional.
        attributes = [
            ("AWS.SNS.SMS.SMSType", "Transactional"), ("AWS.SNS.SMS.SenderID", settings.senderID),
            ("AWS.MM.SMS.OriginationNumber", settings.originationNumber),
        ].filter { !$0.1.isEmpty }
        self.credentials = credentials
        self.http = http
        self.now = now
    }

    /// `Publish` accepts an idempotency id for FIFO topics only. A text may thus arrive twice after a retry, with the
    /// same code. A push contains its own message id.
    func send(_ message: Message, id: UUID) async -> DeliveryOutcome {
        guard let fields = fields(of: message) else {
            return .refused(reason: "not an endpoint of this region, or not a valid payload of SNS")
        }
        let credentials: AmazonCredentials
        do { credentials = try self.credentials() } catch { return .unavailable(reason: "no credentials") }
        let body = PercentEncoding.form([("Action", "Publish"), ("Version", "2010-03-31")] + fields)
        let headers = [
            (name: "Host", value: endpoint.host),
            (name: "Content-Type", value: "application/x-www-form-urlencoded; charset=utf-8"),
        ]
        let signed = signature.headers(
            signing: .init(
                method: "POST", path: endpoint.path, query: endpoint.query, headers: headers, body: body),
            with: credentials, at: now())
        return Self.outcome(of: await http.post(body, to: endpoint.web, headers: headers + signed), to: message)
    }

    private func fields(of message: Message) -> [(name: String, value: String)]? {
        switch message {
        case .text(let number, let body):
            return [("PhoneNumber", number.e164), ("Message", body)] + Self.fields(of: attributes)
        case .push(let endpoint, let payload, let urgency):
            // SNS would accept a topic's ARN as well, and would report an endpoint of another region as deleted.
            let parts = endpoint.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 6, parts[0] == "arn", parts[2] == "sns", parts[3] == signature.region,
                parts[5].hasPrefix("endpoint/"), PushNotification.isPayload(payload)
            else { return nil }
            return [("TargetArn", endpoint), ("Message", payload), ("MessageStructure", "json")]
                + Self.fields(of: Self.attributes(of: urgency, for: endpoint))
        }
    }

    private static func fields(of attributes: [(name: String, value: String)]) -> [(name: String, value: String)] {
        attributes.enumerated().flatMap { index, attribute in
            let entry = "MessageAttributes.entry.\(index + 1)"
            return [
                (name: "\(entry).Name", value: attribute.name), (name: "\(entry).Value.DataType", value: "String"),
                (name: "\(entry).Value.StringValue", value: attribute.value),
            ]
        }
    }

    /// The attributes of a call for its platform (Amazon SNS Developer Guide, "Reserved message attributes for mobile push
    /// notifications"). Apple requires the type `voip` for endpoints for VoIP, and `alert` for others that show something.
    static func attributes(of urgency: PushUrgency, for endpoint: String) -> [(name: String, value: String)] {
        guard case .call(let id, let seconds) = urgency, let platform = PushEndpoints.Platform(of: endpoint) else {
            return []
        }
        let start = "AWS.SNS.MOBILE."
        // The attribute of Firebase has the name of today, its platform that of before.
        let name = platform.name == "GCM" ? "FCM" : platform.name
        let lifetime = (name: "\(start)\(name).TTL", value: String(max(1, seconds)))
        guard platform.isApple else { return [lifetime] }
        return [
            lifetime, (name: "\(start)APNS.PUSH_TYPE", value: platform.isVoIP ? "voip" : "alert"),
            (name: "\(start)APNS.PRIORITY", value: "10"), (name: "\(start)APNS.COLLAPSE_ID", value: id),
        ]
    }

    /// The outcome of an answer. It is a refusal only if SNS refuses the message itself. Errors of the account, the
    /// key or the clock can be corrected, and another sender may succeed meanwhile.
    static func outcome(of answer: BoundedHTTPClient.Answer, to message: Message) -> DeliveryOutcome {
        let (status, body): (UInt, [UInt8]?)
        switch answer {
        case .failed(let reason): return .unavailable(reason: reason)
        case .answered(let code, let content): (status, body) = (code, content)
        }
        switch (body.flatMap(SNSResponse.init), message) {
        case (.messageID(let id), _) where status == 200: return .sent(reference: id)
        case (.failure("EndpointDisabled", _), .push), (.failure("NotFound", _), .push): return .endpointGone
        case (.failure("InvalidParameter", let text), .push) where text.contains("TargetArn"):
            // "Invalid parameter: TargetArn Reason: No endpoint found for the target arn specified": it was deleted.
            return .endpointGone
        case (.failure(let code, _), _) where refusals.contains(code): return .refused(reason: code)
        case (.failure(let code, _), _): return .unavailable(reason: code)
        default: return .unavailable(reason: "HTTP \(status) without a response of SNS")
        }
    }

    /// The codes that refuse the message: its number, its text, or a user who opted out.
    private static let refusals: Set<String> = [
        "InvalidParameter", "InvalidParameterValue", "ParameterValueInvalid", "ValidationError", "ValidationException",
        "OptedOut",
    ]
}
