import Domain
import Encoding
import Fixtures
import Foundation
import Tokens

extension KnownIssuer {
    private static let groups = (0..<157).map { #""00000000-0000-4000-8000-\#(100_000_000_000 + $0)""# }
        .joined(separator: ",")
    private static let tenant = "https://login.microsoftonline.com/11111111-1111-4111-8111-111111111111/v2.0"

    /// Issuers that an organization rents.
    static let workforce = [
        // Up to 200 groups are in the token. Each client id has another sub for the same person.
        KnownIssuer(
            name: "Entra, with 157 groups", url: tenant,
            source: "learn.microsoft.com/entra/identity-platform/id-token-claims-reference",
            audience: "22222222-2222-4222-8222-222222222222", kid: "T1St-dLTvyWRgxB_676u8krXS-I",
            claims: #"""
                {"sub":"AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ","oid":"33333333-3333-4333-8333-333333333333",
                "tid":"11111111-1111-4111-8111-111111111111","ver":"2.0","uti":"x","rh":"0.AX","aio":"AB","roles":["R"],
                "wids":[],"name":"Anna Sampler","preferred_username":"anna@acme.example","nbf":1700000000,
                "groups":[\#(groups)]}
                """#,
            planted: Planted(.unknownIssuer, "must be exactly") {
                $0[claim: "iss"] = .string(tenant.replacing("11111111-1", with: "44444444-4"))
            }),
        KnownIssuer(
            name: "Auth0", url: "https://acme.eu.auth0.com/",
            source: "auth0.com/docs/secure/tokens/id-tokens/id-token-structure", audience: "Auth0ClientId",
            claims: #"""
                {"sub":"auth0|5f7c8ec7c33c6c004bbafe82","nickname":"anna","name":"anna@acme.example",
                "picture":"https://s.gravatar.com/avatar/x","updated_at":"2025-01-01T00:00:00.000Z",
                "https://acme.example/roles":[{"id":1,"more":{"deep":[[[[1]]]]}}],"sid":"x","email_verified":false}
                """#, lifetime: 36_000, ignored: ["picture"],
            planted: Planted(.unknownIssuer, "must be exactly") {
                $0[claim: "iss"] = .string("https://acme.eu.auth0.com")
            }),
        KnownIssuer(
            name: "Okta", url: "https://acme.okta.com/oauth2/default", source: "developer.okta.com/standards/OIDC/",
            audience: "0oa2hl2inow5Uqc6c357", kid: "fAomAvsWyAWDlnBuJbHoqqCRcRdmsg4vri0OICxbIgs", header: "{}",
            claims: #"""
                {"sub":"00u2hl2inow5Uqc6c357","ver":1,"jti":"ID.x","amr":["pwd"],"idp":"00o2hl","auth_time":1700000000,
                "at_hash":"x","name":"Anna Sampler","preferred_username":"anna@acme.example","groups":["Everyone"]}
                """#,
            planted: Planted(.expired, "exp was") {
                $0.lives(from: Date(timeIntervalSince1970: 1_600_000_000), for: 60)
            }),
        KnownIssuer(
            name: "Cognito", url: "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Acme",
            source: "docs.aws.amazon.com/cognito/latest/developerguide/"
                + "amazon-cognito-user-pools-using-the-id-token.html",
            audience: "4client", kid: "wxyz+Abc/12345678901234567890123456789012345=", header: "{}",
            claims: #"""
                {"sub":"c5b9c8a0-1111-4111-8111-111111111111","cognito:groups":["a"],"cognito:username":"anna",
                "token_use":"id","origin_jti":"x","event_id":"y","jti":"z","auth_time":1700000000,
                "identities":[{"userId":"1","providerName":"G","issuer":null,"primary":"true","dateCreated":"1642699117273"}],
                "cognito:preferred_role":"arn:aws:iam::111122223333:role/r","phone_number_verified":true}
                """#, lifetime: 86_400,
            // Its access token has no audience.
            planted: Planted(.missingClaim, "aud is missing") {
                $0[claim: "aud"] = nil
                $0[claim: "client_id"] = .string("4client")
            }),
        KnownIssuer(
            // Its tokens never have the nonce of an app: the planted error is what they are.
            name: "Firebase, if it had a nonce", url: "https://securetoken.google.com/acme",
            source: "firebase.google.com/docs/auth/admin/verify-id-tokens", audience: "acme",
            claims: #"""
                {"sub":"AbCdEf","user_id":"AbCdEf","auth_time":1700000000,"name":"Anna Sampler",
                "firebase":{"identities":{"google.com":["1"],"email":["a@b.example"]},"sign_in_provider":"google.com"}}
                """#,
            planted: Planted(.missingClaim, "nonce is missing") { $0[claim: "nonce"] = nil }),
        // The audience is always a list.
        KnownIssuer(
            name: "Supabase, as an OAuth server", url: "https://acme.supabase.co/auth/v1",
            source: "github.com/supabase/auth/blob/master/internal/tokens/service.go",
            audience: "55555555-5555-4555-8555-555555555555", algorithm: .es256,
            claims: #"""
                {"aud":["55555555-5555-4555-8555-555555555555"],"sub":"66666666-6666-4666-8666-666666666666",
                "auth_time":1700000000,"email_verified":true,"phone_number_verified":false,"name":"Anna Sampler",
                "updated_at":1700000000,"client_id":"55555555-5555-4555-8555-555555555555"}
                """#,
            // Its access token.
            planted: Planted(.wrongAudience, "aud does not name") { $0[claim: "aud"] = .string("authenticated") }),
        KnownIssuer(
            name: "Salesforce", url: "https://login.salesforce.com",
            source: "login.salesforce.com/.well-known/openid-configuration", audience: "3MVG9lKcPoNINVB", kid: "202",
            header: "{}",
            claims: #"""
                {"sub":"https://login.salesforce.com/id/00D000000000001/005000000000001","at_hash":"x",
                "custom_attributes":{"a":"1"},"name":"Anna Sampler","picture":"https://acme.my.salesforce.com/p"}
                """#, lifetime: 120, ignored: ["picture"],
            planted: Planted(.malformed, "exp is not after iat") { $0[claim: "exp"] = $0[claim: "iat"] }),
        KnownIssuer(
            name: "PingOne", url: "https://auth.pingone.eu/77777777-7777-4777-8777-777777777777/as",
            source: "developer.pingidentity.com/pingone-api/foundations/authentication-concepts/"
                + "access-tokens-and-id-tokens/token-claims.html",
            audience: "88888888-8888-4888-8888-888888888888", kid: "default", header: "{}",
            claims: #"""
                {"sub":"99999999-9999-4999-8999-999999999999","amr":["pwd","otp"],"acr":"Multi_Factor","env":"x",
                "org":"y",
                "p1.region":"EU","sid":"z","auth_time":1700000000,"updated_at":1700000000}
                """#,
            planted: Planted(.unknownKey, "kid is not in the issuer's key set") { $0[header: "kid"] = .string("next") }),
    ]
}
