import Domain
import Encoding
import Fixtures
import Tokens

extension KnownIssuer {
    /// Issuers of everybody's accounts.
    static let consumers = [
        KnownIssuer(
            name: "Google, to an Android app for its backend", url: "https://accounts.google.com",
            source: "cloud.google.com/nodejs/docs/reference/google-auth-library/latest/"
                + "google-auth-library/tokenpayload",
            audience: "1234-web.apps.googleusercontent.com", kid: "9b2f0c1d8e7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c",
            claims: #"""
                {"azp":"1234-android.apps.googleusercontent.com","sub":"110169484474386276334","hd":"acme.example",
                "email":"anna@acme.example","email_verified":true,"at_hash":"HK6E_P6Dh8Y93mRNtsDB1Q",
                "name":"Anna Sampler",
                "picture":"https://lh3.googleusercontent.com/a/x=s96-c","given_name":"Anna","locale":"de"}
                """#, ignored: ["picture"],
            planted: Planted(.wrongAudience, "aud does not name") {
                $0[claim: "aud"] = $0[claim: "azp"]
            }),
        // Of email_verified and is_private_email the page says that they are strings or booleans.
        KnownIssuer(
            name: "Apple", url: "https://appleid.apple.com",
            source: "developer.apple.com/documentation/signinwithapplejs/authorizationi/id_token",
            audience: "example.acme.app",
            otherAudiences: ["example.acme.web"], kid: "W6WcOKB", header: "{}",
            claims: #"""
                {"aud":"example.acme.web","sub":"001234.0123456789abcdef0123456789abcdef.1234","nonce_supported":true,
                "email":"x7k2@privaterelay.appleid.com","email_verified":"true","is_private_email":"true",
                "real_user_status":2,"auth_time":1700000000,"c_hash":"3FoxKcZW0gYI3GoO8Ii8gw",
                "transfer_sub":"001234.fedcba9876543210fedcba9876543210.1234"}
                """#, lifetime: 86_400,
            planted: Planted(.missingClaim, "nonce is missing") { $0[claim: "nonce"] = nil }),
        KnownIssuer(
            name: "LINE, for an app", url: "https://access.line.me",
            source: "developers.line.biz/en/docs/line-login/verify-id-token/", audience: "1234567890",
            algorithm: .es256, kid: "a2a459aec5b65fa4a2a459aec5b65fa4a2a459aec5b65fa4a2a459aec5b65fa4",
            claims: #"""
                {"sub":"U1234567890abcdef1234567890abcdef","auth_time":1700000000,"amr":["linesso"],"name":"用户 Anna",
                "picture":"https://profile.line-scdn.net/0h8"}
                """#, ignored: ["picture"],
            // What the channel secret signs for web sites: it has no kid.
            planted: Planted(.unknownKey, "has no kid") {
                $0[header: "alg"] = .string("HS256")
                $0[header: "kid"] = nil
            }),
        KnownIssuer(
            name: "Slack", url: "https://slack.com", source: "api.slack.com/docs/sign-in-with-slack",
            audience: "25259531569.1115258246291", kid: "mB2MAyKSn555isd0EbdhKx6nkyAi9xLq8rvCEb_nOyY",
            claims: #"""
                {"sub":"U0R7MFMJM","https://slack.com/user_id":"U0R7MFMJM","https://slack.com/team_id":"T0R7GR",
                "https://slack.com/team_name":"Acme","https://slack.com/team_domain":"acme",
                "email":"anna@acme.example","email_verified":true,
                "date_email_verified":1622128723,"locale":"en-US","name":"Anna Sampler","picture":"",
                "https://slack.com/team_image_230":"https://a.slack-edge.example/230.png","auth_time":1700000000}
                """#, lifetime: 300, ignored: ["picture"],
            planted: Planted(.nonceUnknown, "did not issue the nonce") { $0[claim: "nonce"] = .string("of-slack") }),
        KnownIssuer(
            name: "Yahoo", url: "https://api.login.yahoo.com",
            source: "developer.yahoo.com/oauth2/guide/openid_connect/getting_started.html",
            audience: "dj0yJmk9ABCDEF--", algorithm: .es256,
            kid: "3466d51f7dd0c780565688c183921816c45889ad", header: "{}",
            claims: #"""
                {"sub":"FSVIDUW3D7FSVIDUW3D72F2F","at_hash":"TvLyXJTAdyJtUpLwUhaJcg","session_exp":1900000000,
                "auth_time":1700000000,"name":null,"picture":null,"nickname":"Anna"}
                """#, ignored: ["name", "picture"],
            planted: Planted(.lifetimeTooLong, "86401 s") { $0[claim: "exp"] = $0.plus(86_401) }),
        // The page describes the attributes alone.
        KnownIssuer(
            name: "PayPal", url: "https://www.paypal.com", source: "developer.paypal.com/log-in/references",
            audience: "AaBbCcDd", header: "{}",
            claims: #"""
                {"sub":"https://www.paypal.com/webapps/auth/identity/user/abc","auth_time":1700000000,"options":[],
                "amr":["pwd"],"at_hash":"x","payer_id":"ABCDEFGHIJKLM","verified_account":"true",
                "address":{"country":"DE","locality":"Musterstadt"}}
                """#, lifetime: 28_800,
            planted: Planted(.expired, "an ID token signs in for") {
                $0[claim: "iat"] = $0.plus(-700)
            }),
    ]
}

extension TokenDraft {
    /// Its `iat`, moved by seconds.
    func plus(_ seconds: Int64) -> JSONValue {
        guard case .integer(let issuedAt)? = self[claim: "iat"] else { return .null }
        return .integer(issuedAt + seconds)
    }
}
