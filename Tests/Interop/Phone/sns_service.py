"""moto's server (the one that `moto_server` starts) on a free loopback port, set up and then told to check signatures:
a user with an access key, a role with temporary credentials, a platform application with endpoints. It ends with its
standard input, so that it never outlives the test that started it.
"""

import json
import logging
import sys

import boto3
import requests
from moto.server import ThreadedMotoServer

REGION = "us-east-1"
PERMISSION = json.dumps(
    {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sns:*", "Resource": "*"}]}
)
TRUST = json.dumps(
    {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "*"}}]}
)


def set_up(url):
    def client(service):
        return boto3.client(
            service, endpoint_url=url, region_name=REGION, aws_access_key_id="setup", aws_secret_access_key="setup"
        )

    iam, sns = client("iam"), client("sns")
    iam.create_user(UserName="countersign")
    iam.put_user_policy(UserName="countersign", PolicyName="publish", PolicyDocument=PERMISSION)
    key = iam.create_access_key(UserName="countersign")["AccessKey"]
    role = iam.create_role(RoleName="sender", AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
    iam.put_role_policy(RoleName="sender", PolicyName="publish", PolicyDocument=PERMISSION)
    temporary = client("sts").assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
    application = sns.create_platform_application(Name="app", Platform="GCM", Attributes={})["PlatformApplicationArn"]

    def endpoint(token):
        return sns.create_platform_endpoint(PlatformApplicationArn=application, Token=token)["EndpointArn"]

    endpoints = {name: endpoint(name) for name in ("live", "disabled", "deleted")}
    sns.set_endpoint_attributes(EndpointArn=endpoints["disabled"], Attributes={"Enabled": "false"})
    sns.delete_endpoint(EndpointArn=endpoints["deleted"])
    topic = sns.create_topic(Name="topic")["TopicArn"]
    # From here on every request must be signed.
    requests.post(f"{url}/moto-api/reset-auth", data=b"0", timeout=60).raise_for_status()
    return {
        "key": [key["AccessKeyId"], key["SecretAccessKey"]],
        "temporary": [temporary["AccessKeyId"], temporary["SecretAccessKey"], temporary["SessionToken"]],
        "topic": topic,
        **endpoints,
    }


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    port = server.get_host_and_port()[1]
    print(json.dumps({"ports": [port], "region": REGION, **set_up(f"http://127.0.0.1:{port}")}), flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main()
