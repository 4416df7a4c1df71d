import Domain

extension Refusal {
    /// The sentence for a caller over HTTP: with the member of the request, or the call, that it is about.
    var wording: String {
        switch subject {
        case nil, .slug: detail
        case .algorithm: "$.alg: \(detail)"
        case .applicationID: "$.app_id: \(detail)"
        case .authorizationID: "$.id: \(detail)"
        case .barcode: "$.aamva: \(detail)"
        case .captcha: "$.captcha: \(detail)"
        case .enrolmentToken: "$.enrolment_token: \(detail)"
        case .eventID: "$.event_id: \(detail)"
        case .presence: "$.presence: \(detail)"
        case .presenceKey: "$.presence_key: \(detail)"
        case .pushEndpoint: "$.push_endpoint: \(detail)"
        case .recipient: "$.to: \(detail)"
        case .webhookURL: "$.url: \(detail)"
        case .authorizations: "\(detail) GET /authorizations lists it."
        case .phoneVerification: "\(detail) POST /phone-verifications starts that."
        }
    }
}
